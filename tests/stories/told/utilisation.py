"""Pools that are scaled by utilisation."""

from __future__ import annotations

from typing import Any

from tests.stories.objects import Catalogue, Deployment, Pool, Template
from tests.stories.story import Cordon, Make, Scale, Share, Story
from tests.stories.told.sizes import ALL, FILLS_SMALL

SOON = {
    "scanInterval": "1s",
    "scaleUpCoolDownPeriod": "0s",
    "softDeleteGracePeriod": "1s",
    "hardDeleteGracePeriod": "2h",
}
ONE_CPU = Template("1", "1Gi")
FIVE = (Make((Deployment("web", 5, ONE_CPU),)),)


def _utilised(**fields: Any) -> Pool:
    scaling = {"policy": "Utilisation", "utilisation": SOON | fields}
    return Pool("main", ALL, {"scaling": scaling})


UTILISED = _utilised()
KEEPS_TAINTED = _utilised(softDeleteGracePeriod="1h")

STORIES = (
    Story(
        # The pool comes after its pods, so that one run sees all of them on both stages.
        name="utilised",
        share=Share.LONG,
        given=(Catalogue(),),
        chapters=(FIVE, (Make((UTILISED,)),), (Scale("web", 0),)),
    ),
    Story(
        # Nodes that were tainted are used again before any is bought, the newest first.
        name="used-again",
        share=Share.LONG,
        given=(Catalogue(),),
        chapters=(FIVE, (Make((KEEPS_TAINTED,)),), (Scale("web", 0),), (Scale("web", 5),)),
    ),
    Story(
        # What a person has cordoned is no capacity, and is never tainted or given back.
        name="cordoned-apart",
        share=Share.LONG,
        given=(Catalogue(),),
        chapters=(
            FIVE,
            (Make((UTILISED,)),),
            (Cordon(),),
            (Scale("web", 10),),
        ),
    ),
    Story(
        # The larger share of both resources decides.
        name="memory-decides",
        share=Share.LONG,
        given=(Catalogue(),),
        chapters=(
            (Make((Deployment("web", 6, Template("100m", "2Gi")),)),),
            (Make((UTILISED,)),),
        ),
    ),
    Story(
        # The minimum is there without a pod, and the maximum isn't exceeded.
        name="utilised-bounds",
        share=Share.LONG,
        given=(Catalogue(), Pool("main", {"small": 5}, _utilised(minNodes=1, maxNodes=3).more)),
        chapters=((), (Make((Deployment("web", 5, FILLS_SMALL),)),)),
        left={"web": 2},
    ),
    Story(
        # While machines are awaited, and for its period, the lock keeps others from being bought.
        name="locked",
        share=Share.LONG,
        given=(Catalogue(),),
        chapters=(
            (Make((Deployment("web", 2, ONE_CPU),)),),
            (Make((_utilised(scaleUpCoolDownPeriod="10s"),)), Scale("web", 6)),
        ),
    ),
)
