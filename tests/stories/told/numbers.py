"""Pools that keep a number of nodes, which people set and pending pods raise."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.stories.objects import Catalogue, Deployment, Pool
from tests.stories.story import Make, Replace, Share, Story
from tests.stories.told.sizes import FILLS_SMALL


def _numbered(number: int, **fields: Any) -> Pool:
    desired = {"desiredNodes": number, "maxNodes": 5} | fields
    scaling = {"policy": "Desired", "desired": desired}
    return Pool("main", {"small": 5}, {"scaling": scaling, "scaleDown": {"idleAfter": "1s"}})


def _of_types(types: dict[str, int], number: int, preferred: str) -> Pool:
    prefers = _numbered(number, preferredInstanceType=preferred)
    return msgspec.structs.replace(prefers, types=types)


STORIES = (
    Story(
        name="number-rises",
        share=Share.LONG,
        given=(Catalogue(), _numbered(2)),
        chapters=(
            (),
            (Replace(_numbered(3)),),
            (Make((Deployment("web", 4, FILLS_SMALL),)),),
        ),
    ),
    Story(
        name="number-is-bounded",
        share=Share.LONG,
        given=(Catalogue(), _numbered(1, minNodes=2, maxNodes=3)),
        chapters=((), (Make((Deployment("web", 5, FILLS_SMALL),)),)),
        left={"web": 2},
    ),
    Story(
        # Two at a time, and the next ones only when these serve.
        name="number-in-batches",
        share=Share.LONG,
        given=(Catalogue(), _numbered(5, scaleUpBatchSize=2)),
        chapters=((),),
    ),
    Story(
        # The preferred type if it is sold, and not the first or the cheapest one.
        name="number-prefers",
        share=Share.LONG,
        given=(Catalogue(), _of_types({"small": 5, "medium": 2}, 3, "medium")),
        chapters=((),),
    ),
    Story(
        # A person wants fewer: they go after the cooldown, though nothing measures their use.
        name="number-falls",
        share=Share.LONG,
        given=(Catalogue(), _numbered(4, scaleDownCooldown="1s")),
        chapters=((), (Replace(_numbered(1, scaleDownCooldown="1s")),)),
    ),
)
