"""Pods that look at other pods."""

from __future__ import annotations

from typing import Any

from tests.stories.objects import (
    HOST,
    PLENTY,
    WORKLOAD_LABEL,
    ZONE,
    Catalogue,
    Deployment,
    Node,
    Pod,
    Pool,
    Template,
)
from tests.stories.story import Make, Scale, Share, Story
from tests.stories.told.sizes import FILLS_LARGE, FILLS_SMALL, MAIN


def near(workload: str, key: str) -> dict[str, Any]:
    return {"affinity": {"podAffinity": _required(workload, key)}}


def apart(workload: str, key: str) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": _required(workload, key)}}


def _required(workload: str, key: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {WORKLOAD_LABEL: workload}}, "topologyKey": key}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def spread(workload: str, key: str) -> dict[str, Any]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {WORKLOAD_LABEL: workload}},
    }
    return {"topologySpreadConstraints": [constraint]}


PORT = {
    "containers": [
        {
            "name": "main",
            "image": "none",
            "ports": [{"containerPort": 8080, "hostPort": 8080}],
            "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}},
        }
    ]
}

STORIES = (
    Story(
        name="one-a-machine",
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Deployment("web", 3, Template("500m", "256Mi", more=apart("web", HOST))),)),),
            (Scale("web", 4),),
        ),
    ),
    Story(
        name="near-the-store",
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Pod("store", FILLS_SMALL.but(select={ZONE: "there"})),)),),
            (Make((Deployment("web", 2, FILLS_SMALL.but(more=near("store", ZONE))),)),),
        ),
    ),
    Story(
        name="store-comes-later",
        given=(Catalogue(), Pool("main", {"large": PLENTY})),
        chapters=(
            (Make((Deployment("web", 1, Template("500m", "1Gi", more=near("store", HOST))),)),),
            (Make((Pod("store", Template("1", "1Gi")),)),),
        ),
    ),
    Story(
        name="away-from-it",
        share=Share.LONG,
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Pod("loud", FILLS_SMALL.but(select={ZONE: "here"})),)),),
            (Make((Deployment("quiet", 2, FILLS_SMALL.but(more=apart("loud", ZONE))),)),),
        ),
    ),
    Story(
        name="spread",
        given=(
            Catalogue(),
            MAIN,
            Node("old-here", "1", "1Gi", zone="here"),
            Node("old-there", "1", "1Gi", zone="there"),
        ),
        chapters=(
            (Make((Deployment("web", 1, FILLS_SMALL.but(more=spread("web", ZONE))),)),),
            (Scale("web", 2),),
            (Scale("web", 3),),
        ),
    ),
    Story(
        # A node that has none of them and no room for one holds them apart, wherever there is room.
        name="spread-by-node",
        given=(Catalogue(), MAIN, Node("old", "100m", "100Mi")),
        chapters=(
            (Make((Deployment("web", 2, Template("500m", "256Mi", more=spread("web", HOST))),)),),
            (Scale("web", 4),),
        ),
    ),
    Story(
        name="host-ports",
        share=Share.LONG,
        given=(Catalogue(), Pool("main", {"large": PLENTY})),
        chapters=((Make((Deployment("edge", 3, Template(more=PORT)),)),),),
    ),
    Story(
        name="big-and-small",
        given=(Catalogue(), MAIN),
        chapters=(
            (Make((Deployment("big", 1, FILLS_LARGE),)),),
            (Make((Deployment("small", 2, FILLS_SMALL),)),),
            (Scale("big", 2),),
            (Scale("big", 0),),
            (Scale("small", 6),),
        ),
    ),
)
