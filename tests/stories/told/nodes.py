"""Nodes that are there already."""

from __future__ import annotations

from tests.stories.objects import Catalogue, Deployment, Node, Template
from tests.stories.story import Cordon, Make, Scale, Share, Story
from tests.stories.told.sizes import FILLS_SMALL, MAIN

STORIES = (
    Story(
        name="room-is-there",
        share=Share.LONG,
        given=(Catalogue(), MAIN, Node("old", "8", "16Gi")),
        chapters=((Make((Deployment("web", 4, Template("1", "1Gi")),)),),),
    ),
    Story(
        name="some-room",
        given=(Catalogue(), MAIN, Node("old", "4", "16Gi")),
        chapters=(
            (Make((Deployment("web", 2, FILLS_SMALL),)),),
            (Scale("web", 5),),
        ),
    ),
    Story(
        name="cordoned",
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Deployment("web", 2, FILLS_SMALL),)),),
            (Cordon(), Scale("web", 1)),
            (Scale("web", 3),),
        ),
    ),
)
