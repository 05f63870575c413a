"""Pools that keep a number of nodes, which people set and pending pods raise."""

from __future__ import annotations

from typing import Any

from tests.stories.objects import Catalogue, Deployment, Pool
from tests.stories.story import Make, Replace, Share, Story
from tests.stories.told.sizes import FILLS_SMALL


def _numbered(number: int, **fields: Any) -> Pool:
    desired = {"desiredNodes": number, "maxNodes": 5} | fields
    scaling = {"scaling": {"policy": "Desired", "desired": desired}}
    return Pool("main", {"small": 5}, scaling)


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
)
