"""Remarks beside a plan: ignored objects, assumed replicas, and unknown image architectures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec

from growth.cli.plan.manifests import Autoscaled, LeftOut, WhatRuns
from growth.cli.terminal.texts import counted, first_few, wrapped
from growth.scheduling.owners import workload_of
from reconciler.buying.blueprints import ARCHITECTURE_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.pod import Pod
    from reconciler.buying.offers import Purchasable
    from reconciler.paper.planned import PlanOnPaper

ARM: Final = "arm64"
OTHER: Final = "amd64"


class Remarks(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a reader of the plan should also know."""

    left_out: tuple[LeftOut, ...]
    autoscaled: tuple[Autoscaled, ...]
    any_architecture: tuple[str, ...]
    """Workloads that get Arm machines but don't say whether their images support Arm."""


def remarks_of(paper: PlanOnPaper, files: WhatRuns) -> Remarks:
    """The remarks on a plan."""
    bought = (
        (paper.items[name], pod) for name in paper.requests for pod in paper.pods.get(name, ())
    )
    owners = Counter(str(workload_of(pod)) for item, pod in bought if _is_a_guess(item, pod))
    return Remarks(
        left_out=files.left_out,
        autoscaled=files.autoscaled,
        any_architecture=tuple(name for name, _ in owners.most_common()),
    )


def _is_a_guess(item: Purchasable, pod: Pod) -> bool:
    """Whether a pod gets an Arm machine but doesn't say what its image supports."""
    is_arm = item.offering.labels.get(ARCHITECTURE_LABEL) == ARM
    return is_arm and ARCHITECTURE_LABEL not in pod.wanted_nodes.keys


def lines(remarks: Remarks) -> Iterator[str]:
    """The remarks as text."""
    for text in _texts(remarks):
        yield from wrapped("", text, indent=2)


def _texts(remarks: Remarks) -> Iterator[str]:
    for each in remarks.autoscaled:
        span = f"{each.minimum} to {counted(each.maximum, 'replica')}"
        yield (
            f"{each.workload} is planned with {each.replicas} replicas; its autoscaler allows "
            f"{span} (--replicas)"
        )
    for left_out in remarks.left_out:
        yield f"not planned: {left_out.object} ({left_out.reason})"
    if remarks.any_architecture:
        yield (
            f"{first_few(remarks.any_architecture)} would run on Arm: check that their images "
            f"support {ARM}, or set the nodeSelector {ARCHITECTURE_LABEL}: {OTHER}"
        )
