"""What comes at the wrong time, late, or not at all."""

from __future__ import annotations

from tests.stories.objects import Catalogue, Deployment, Pod, Pool
from tests.stories.story import (
    Await,
    Call,
    Happening,
    Make,
    Remove,
    Replace,
    Restart,
    Scale,
    Share,
    Story,
    Ungate,
)
from tests.stories.told.sizes import ALL, FILLS_MEDIUM, FILLS_SMALL, MAIN

SOLD_OUT_HERE = {"kind": "StockOut", "serverType": "small", "location": "here"}
SOLD_OUT = {"kind": "StockOut", "serverType": "small"}
GATE = {"schedulingGates": [{"name": "example.com/wait"}]}

STORIES = (
    Story(
        name="gated",
        given=(Catalogue(), MAIN),
        chapters=(
            (
                Make(
                    (
                        Pod("held", FILLS_SMALL.but(more=GATE)),
                        Pod("held-on", FILLS_SMALL.but(more=GATE)),
                        Pod("free", FILLS_SMALL),
                    )
                ),
            ),
            (Ungate("held"),),
        ),
        left={"held-on": 1},
    ),
    Story(
        name="gone-before",
        given=(Catalogue(boot="2s"), MAIN),
        chapters=(
            (
                Make((Pod("hasty", FILLS_MEDIUM),)),
                Await(Happening.MADE),
                Remove("hasty"),
            ),
            (Make((Deployment("patient", 2, FILLS_MEDIUM),)),),
        ),
    ),
    Story(
        name="slow-boot",
        given=(Catalogue(boot="3s"), MAIN),
        chapters=(
            (
                Make((Deployment("web", 2, FILLS_SMALL),)),
                Await(Happening.MADE),
                Scale("web", 4),
            ),
        ),
    ),
    Story(
        name="sold-out-here",
        given=(Catalogue(faults=(SOLD_OUT_HERE,)), MAIN),
        chapters=((Make((Deployment("web", 3, FILLS_SMALL),)),),),
    ),
    Story(
        name="sold-out",
        share=Share.LONG,
        given=(Catalogue(faults=(SOLD_OUT,)), MAIN),
        chapters=(
            (Make((Deployment("web", 1, FILLS_SMALL),)),),
            (Replace(Catalogue()), Scale("web", 3)),
        ),
    ),
    Story(
        name="all-sold-out",
        share=Share.LONG,
        given=(Catalogue(faults=({"kind": "StockOut"},)), Pool("main", ALL)),
        chapters=((Make((Deployment("web", 2, FILLS_SMALL),)),),),
        left={"web": 2},
    ),
    Story(
        name="lost-orders",
        given=(Catalogue(), MAIN),
        chapters=((Make((Deployment("web", 3, FILLS_SMALL),)),),),
        loses=frozenset({Call.ORDER}),
    ),
    Story(
        name="lost-intents",
        given=(Catalogue(), MAIN),
        chapters=((Make((Deployment("web", 3, FILLS_MEDIUM),)),),),
        loses=frozenset({Call.INTENT}),
    ),
    Story(
        name="restarted",
        given=(Catalogue(boot="1s"), MAIN),
        chapters=(
            (
                Make((Deployment("web", 3, FILLS_SMALL),)),
                Await(Happening.REQUESTED),
                Restart(),
                Scale("web", 4),
            ),
        ),
    ),
)
