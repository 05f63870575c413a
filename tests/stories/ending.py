"""What a story has come to, and how two tellings of it differ.

Names differ from telling to telling, and between machines of one kind the real scheduler draws
lots. So machines are counted by pool, type and place, and pods by workload and kind of machine.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from growth.api.noderequest import NodeRequest, RequestPhase
from growth.api.wellknown import INSTANCE_TYPE_LABEL, MANAGED_BY_LABEL, POOL_LABEL
from tests.stories.objects import WORKLOAD_LABEL, ZONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.objects import Node, Pod

NOWHERE = "no node"
DONE = "done with its work"
ON_THEIR_WAY = {RequestPhase.PENDING, RequestPhase.PROVISIONING}


class Kind(NamedTuple):
    """Machines that nobody tells apart."""

    pool: str
    server_type: str
    location: str

    @override
    def __str__(self) -> str:
        return f"{self.pool}/{self.server_type} {self.location}"


class Ending(NamedTuple):
    """Everything that both stages have to agree about."""

    machines: Counter[Kind]
    pods: Counter[tuple[str, str]]
    """By workload and place: a kind of machine, the name of a node that isn't ours, or none."""

    @property
    def left(self) -> dict[str, int]:
        """The pods without a node, by workload."""
        return {
            workload: count
            for (workload, place), count in sorted(self.pods.items())
            if place == NOWHERE
        }


class Seen(NamedTuple):
    """The objects of a story, at one moment."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    requests: tuple[NodeRequest, ...]

    @property
    def ending(self) -> Ending:
        kinds = {node.name: kind for node in self.nodes if (kind := kind_of(node)) is not None}
        places = {"": NOWHERE} | {name: str(kind) for name, kind in kinds.items()}

        def place(pod: Pod) -> str:
            return DONE if pod.is_finished else places.get(pod.spec.node_name, pod.spec.node_name)

        return Ending(
            machines=Counter(kinds.values()),
            pods=Counter((pod.metadata.labels[WORKLOAD_LABEL], place(pod)) for pod in self.pods),
        )

    @property
    def unrest(self) -> tuple[str, ...]:
        """What is still to come, for people; nothing when all is quiet."""
        return (*self._requests_on_their_way(), *self._pods_that_wait())

    def _requests_on_their_way(self) -> Iterator[str]:
        for request in self.requests:
            if request.status.phase in ON_THEIR_WAY:
                yield f"{request.name} is {request.status.phase}"

    def _pods_that_wait(self) -> Iterator[str]:
        for pod in self.pods:
            if pod.is_terminating:
                yield f"{pod.name} has not ended yet"
            elif not (pod.spec.node_name or pod.spec.scheduling_gates or _is_told(pod)):
                yield f"{pod.name} waits for the scheduler"


def kind_of(node: Node) -> Kind | None:
    """None for nodes that growth didn't buy."""
    labels = node.labels
    if MANAGED_BY_LABEL not in labels:
        return None
    return Kind(labels[POOL_LABEL], labels[INSTANCE_TYPE_LABEL], labels[ZONE])


def _is_told(pod: Pod) -> bool:
    return any(
        condition.type == "PodScheduled" and condition.status == "False"
        for condition in pod.status.conditions
    )


def differences(simulated: Ending, real: Ending) -> str:
    """A table of what is not alike; empty if nothing is."""
    rows = [
        *_rows("machines", _told(simulated.machines), _told(real.machines)),
        *_rows("pods", _told(simulated.pods), _told(real.pods)),
    ]
    if not rows:
        return ""
    heading = ("", "", "simulated", "real")
    return "\n".join("{:10} {:50} {:>9} {:>5}".format(*row) for row in (heading, *rows))


def _told(counted: Counter[Kind] | Counter[tuple[str, str]]) -> Counter[str]:
    return Counter(
        {
            str(each) if isinstance(each, Kind) else " on ".join(each): count
            for each, count in counted.items()
        }
    )


def _rows(
    what: str, simulated: Counter[str], real: Counter[str]
) -> Iterator[tuple[str, str, int, int]]:
    for text in sorted({*simulated, *real}):
        if simulated[text] != real[text]:
            yield what, text, simulated[text], real[text]
