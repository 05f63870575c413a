"""How much of what a pool may have, and what becomes of the rest."""

from __future__ import annotations

from tests.stories.objects import HOST, Catalogue, Deployment, Pool
from tests.stories.story import Make, Replace, Scale, Share, Story
from tests.stories.told.neighbours import apart
from tests.stories.told.sizes import ALL, FILLS_LARGE, FILLS_SMALL

KEPT = {"name": "small", "min": 1, "max": 3}

STORIES = (
    Story(
        name="next-type",
        given=(Catalogue(), Pool("main", {"small": 2, "medium": 5})),
        chapters=((Make((Deployment("web", 4, FILLS_SMALL.but(more=apart("web", HOST))),)),),),
    ),
    Story(
        name="maximum",
        share=Share.LONG,
        given=(Catalogue(), Pool("main", {"small": 2})),
        chapters=((Make((Deployment("web", 5, FILLS_SMALL),)),),),
        left={"web": 3},
    ),
    Story(
        name="maximum-rises",
        given=(Catalogue(), Pool("main", {"small": 1})),
        chapters=(
            (Make((Deployment("web", 4, FILLS_SMALL),)),),
            (Replace(Pool("main", {"small": 3})),),
            (Scale("web", 2), Scale("web", 3)),
        ),
    ),
    Story(
        name="pool-comes-later",
        given=(Catalogue(),),
        chapters=(
            (Make((Deployment("web", 2, FILLS_SMALL),)),),
            (Make((Pool("main", {"small": 5}),)),),
        ),
    ),
    Story(
        name="limits",
        given=(Catalogue(), Pool("main", ALL, {"limits": {"nodes": 2}})),
        chapters=((Make((Deployment("web", 3, FILLS_LARGE),)),),),
        left={"web": 1},
    ),
    Story(
        name="minimum",
        given=(Catalogue(), Pool("main", {"small": 3}, {"serverTypes": [KEPT]})),
        chapters=(
            (),
            (Make((Deployment("web", 2, FILLS_SMALL),)),),
        ),
    ),
)
