"""Pools that are scaled by utilisation."""

from __future__ import annotations

from tests.stories.objects import Catalogue, Deployment, Pool, Template
from tests.stories.story import Make, Scale, Share, Story
from tests.stories.told.sizes import ALL

SOON = {
    "scanInterval": "1s",
    "scaleUpCoolDownPeriod": "0s",
    "softDeleteGracePeriod": "1s",
    "hardDeleteGracePeriod": "1h",
}
UTILISED = Pool("main", ALL, {"scaling": {"policy": "Utilisation", "utilisation": SOON}})

STORIES = (
    Story(
        # The pool comes after its pods, so that one run sees all of them on both stages.
        name="utilised",
        share=Share.LONG,
        given=(Catalogue(),),
        chapters=(
            (Make((Deployment("web", 5, Template("1", "1Gi")),)),),
            (Make((UTILISED,)),),
            (Scale("web", 0),),
        ),
    ),
)
