"""What pods ask for, how many there are, and how that changes."""

from __future__ import annotations

from tests.stories.objects import (
    DEFAULT_POOL,
    PLENTY,
    Catalogue,
    DaemonSet,
    Deployment,
    Offer,
    Pod,
    Pool,
    Template,
    server_type,
)
from tests.stories.story import Make, Scale, Share, Story

ALL = {"small": PLENTY, "medium": PLENTY, "large": PLENTY}
MAIN = Pool("main", ALL)
# Nothing else fits beside one of these on the machine that is bought for it.
FILLS_SMALL = Template("1900m", "1Gi")
FILLS_MEDIUM = Template("3900m", "2Gi")
FILLS_LARGE = Template("7900m", "2Gi")
GPU = server_type("gpu", "8", "16Gi", Offer("here", "0.500"), **{"example.com/gpu": "2"})
TRAINS = Template("1", "1Gi", asks={"example.com/gpu": "2"})

STORIES = (
    Story(
        name="one-pod",
        given=(Catalogue(), MAIN),
        chapters=((Make((Pod("only", Template("1", "1Gi")),)),),),
    ),
    Story(
        name="three-shapes",
        given=(Catalogue(), MAIN),
        chapters=(
            # At the same time the small ones might be first on a large machine.
            (Make((Deployment("large", 2, FILLS_LARGE),)),),
            (Make((Deployment("medium", 2, FILLS_MEDIUM),)),),
            (Make((Deployment("small", 3, FILLS_SMALL),)),),
        ),
    ),
    Story(
        name="grows",
        share=Share.LONG,
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Deployment("web", 1, FILLS_SMALL),)),),
            (Scale("web", 3),),
            (Scale("web", 4),),
        ),
    ),
    Story(
        name="up-and-down",
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Deployment("web", 4, FILLS_MEDIUM),)),),
            (Scale("web", 1),),
            (Scale("web", 3),),
            (Scale("web", 0),),
        ),
    ),
    Story(
        name="room-is-reused",
        share=Share.LONG,
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Deployment("first", 3, FILLS_LARGE),)),),
            (Scale("first", 1),),
            (Make((Deployment("second", 4, Template("3500m", "2Gi")),)),),
        ),
    ),
    Story(
        name="work-is-done",
        given=(Catalogue(), MAIN),
        chapters=(
            (
                Make(
                    (
                        Pod(
                            "job",
                            FILLS_MEDIUM.but(annotations={"growth.dev/kwok-completes-after": "1s"}),
                        ),
                    )
                ),
            ),
            (Make((Deployment("after", 2, FILLS_MEDIUM),)),),
        ),
    ),
    Story(
        name="gpu",
        share=Share.LONG,
        given=(Catalogue((*Catalogue().types, GPU)), Pool("main", ALL | {"gpu": 3})),
        chapters=(
            (Make((Pod("serves", FILLS_SMALL),)),),
            (Make((Deployment("trains", 2, TRAINS),)),),
        ),
    ),
    Story(
        name="packed",
        given=(Catalogue(), Pool("main", {"large": PLENTY})),
        chapters=((Make((Deployment("web", 6, Template("1900m", "1Gi")),)),),),
    ),
    Story(
        name="asks-for-nothing",
        share=Share.LONG,
        given=(Catalogue(), MAIN),
        chapters=((Make((Deployment("idle", 2, Template()),)),),),
    ),
    Story(
        name="fits-nowhere",
        given=(Catalogue(), MAIN),
        chapters=(
            (
                Make(
                    (
                        Deployment("huge", 2, Template("64", "1Gi")),
                        Deployment("greedy", 1, Template("1", "1Ti")),
                        Deployment("fits", 2, FILLS_SMALL),
                    )
                ),
            ),
        ),
        left={"greedy": 1, "huge": 2},
    ),
    Story(
        name="agents",
        given=(
            Catalogue(),
            MAIN,
            DaemonSet(
                "agent", Template("500m", "256Mi", more={"tolerations": [{"operator": "Exists"}]})
            ),
        ),
        # Beside the agent it fits no small machine.
        chapters=((Make((Deployment("web", 2, Template("1900m", "1Gi")),)),),),
    ),
    Story(
        name="by-default",
        given=(Catalogue(), Pool(DEFAULT_POOL, ALL)),
        chapters=((Make((Deployment("anyone", 2, Template("1900m", "1Gi", pools=())),)),),),
    ),
)
