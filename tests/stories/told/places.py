"""Where machines are, what they are called, and who may use them."""

from __future__ import annotations

from tests.stories.objects import (
    ARM,
    MEDIUM,
    PLENTY,
    SMALL,
    ZONE,
    Catalogue,
    Deployment,
    Offer,
    Pod,
    Pool,
    Template,
    server_type,
)
from tests.stories.story import Make, Share, Story
from tests.stories.told.neighbours import PORT
from tests.stories.told.sizes import ALL, FILLS_MEDIUM, FILLS_SMALL, MAIN

CAPACITY = "example.com/capacity"
ON_DEMAND = {CAPACITY: "on-demand"}
SPOT = {CAPACITY: "spot"}
TWO_OFFERS = server_type(
    "medium",
    "4",
    "8Gi",
    Offer("here", "0.018", ON_DEMAND),
    Offer("there", "0.007", SPOT),
)
DEDICATED = {"key": "example.com/dedicated", "value": "yes", "effect": "NoSchedule"}
AMD = {"kubernetes.io/arch": "amd64"}
TOLERANT = {"tolerations": [{"key": "example.com/dedicated", "operator": "Exists"}]}

# Two of them are on no machine together.
EITHER = Template(pools=("one", "two"), more=PORT)

STORIES = (
    Story(
        name="two-pools",
        given=(Catalogue(), Pool("one", {"small": PLENTY}), Pool("two", {"medium": PLENTY})),
        chapters=(
            (
                Make(
                    (
                        Deployment("first", 2, FILLS_SMALL.but(pools=("one",))),
                        Deployment("second", 2, FILLS_SMALL.but(cpu="2500m", pools=("two",))),
                    )
                ),
            ),
        ),
    ),
    Story(
        name="either-pool",
        given=(Catalogue(), Pool("one", {"small": 1}), Pool("two", {"small": 1, "medium": 1})),
        chapters=((Make((Deployment("any", 4, EITHER),)),),),
        left={"any": 1},
    ),
    Story(
        name="one-place",
        share=Share.LONG,
        given=(Catalogue(), Pool("main", ALL, {"locations": [{"region": "there"}]})),
        chapters=(
            (
                Make(
                    (
                        Deployment("small", 2, FILLS_SMALL),
                        Deployment("large", 1, Template("7", "1Gi")),
                    )
                ),
            ),
        ),
        left={"large": 1},
    ),
    Story(
        name="zone-is-named",
        given=(Catalogue(), MAIN),
        chapters=(
            (
                Make(
                    (
                        Deployment("over", 2, FILLS_MEDIUM.but(select={ZONE: "there"})),
                        Deployment("none", 1, FILLS_SMALL.but(select={ZONE: "elsewhere"})),
                    )
                ),
            ),
        ),
        left={"none": 1},
    ),
    Story(
        name="architecture",
        share=Share.LONG,
        given=(Catalogue((SMALL, MEDIUM, ARM)), Pool("main", ALL | {"arm": PLENTY})),
        chapters=(
            (Make((Pod("cheap", FILLS_MEDIUM),)),),
            (Make((Deployment("amd", 2, FILLS_MEDIUM.but(select=AMD)),)),),
        ),
    ),
    Story(
        name="labels-of-offers",
        given=(Catalogue((TWO_OFFERS,)), Pool("main", {"medium": PLENTY})),
        chapters=(
            (
                Make(
                    (
                        Deployment("safe", 2, FILLS_MEDIUM.but(select=ON_DEMAND)),
                        Deployment("cheap", 2, FILLS_MEDIUM.but(select=SPOT)),
                    )
                ),
            ),
        ),
    ),
    Story(
        name="taints",
        given=(
            Catalogue(),
            Pool("main", {"small": PLENTY}, {"taints": [DEDICATED]}),
            Pool("open", {"small": PLENTY}),
        ),
        chapters=(
            (
                Make(
                    (
                        Deployment("tolerant", 2, FILLS_SMALL.but(more=TOLERANT)),
                        Deployment("other", 1, FILLS_SMALL),
                        Deployment("open", 1, FILLS_SMALL.but(pools=("open",))),
                    )
                ),
            ),
        ),
        left={"other": 1},
    ),
)
