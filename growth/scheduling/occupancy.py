"""The pods of one node, and their sums.

Each node has its own value. So when a pod changes, only the sums of its node are computed again,
and all others are shared between one snapshot of the cluster and the next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from growth.scheduling import resources
from growth.scheduling.emptiness import keepers, keeps_its_node
from growth.scheduling.owners import Owner, workload_of
from growth.scheduling.pod import Pod
from growth.scheduling.remembering import Remembers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.ports import HostPort
    from growth.scheduling.resources import Resources


class Occupancy(Remembers, frozen=True, dict=True):
    """The pods on a node. Finished pods use nothing and aren't among them."""

    pods: tuple[Pod, ...] = ()
    ending: tuple[Pod, ...] = ()
    """Finished pods that the kubelet still has to delete."""

    def having(self, pod: Pod) -> Occupancy:
        """The same with this pod added or updated."""
        others = self.lacking(pod)
        if pod.is_ending:
            return _kept_by(others.keepers, Occupancy(others.pods, (*others.ending, pod)))
        if pod.is_finished:
            return others
        keeping = (*others.keepers, pod) if keeps_its_node(pod) else others.keepers
        return _kept_by(keeping, Occupancy((*others.pods, pod), others.ending))

    def lacking(self, pod: Pod) -> Occupancy:
        """The same without this pod."""
        # A changed pod is a new object, so pods are compared by uid.
        uid = pod.metadata.uid
        return _kept_by(
            tuple(each for each in self.keepers if each.metadata.uid != uid),
            Occupancy(
                tuple(each for each in self.pods if each.metadata.uid != uid),
                tuple(each for each in self.ending if each.metadata.uid != uid),
            ),
        )

    @cached_property
    def requested(self) -> Resources:
        """The total requests of the pods."""
        return resources.total(pod.requests for pod in self.pods)

    @cached_property
    def by_namespace(self) -> Mapping[str, tuple[Pod, ...]]:
        """The pods of each namespace, since most rules between pods are within one."""
        found: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in self.pods:
            found[pod.metadata.namespace].append(pod)
        return {namespace: tuple(pods) for namespace, pods in found.items()}

    @cached_property
    def by_workload(self) -> Mapping[Owner, int]:
        """The number of pods of each workload."""
        return Counter(workload_of(pod) for pod in self.pods)

    @cached_property
    def controllers(self) -> frozenset[str]:
        """The uids of the pods' controllers."""
        owners = (pod.metadata.controller for pod in self.pods)
        return frozenset(owner.uid for owner in owners if owner is not None)

    @cached_property
    def repelling(self) -> tuple[Pod, ...]:
        """The pods with required anti-affinity."""
        return tuple(pod for pod in self.pods if pod.anti_affinity_terms)

    @cached_property
    def keepers(self) -> tuple[Pod, ...]:
        """The pods that keep the node; if there are none, it is empty.

        Each change carries them on, so that no pass has to ask this of all pods of a cluster.
        """
        return keepers(self.pods)

    @cached_property
    def is_any_terminating(self) -> bool:
        """Whether a pod that keeps the node is being deleted."""
        return any(pod.is_terminating for pod in self.keepers)

    @cached_property
    def with_claims(self) -> tuple[Pod, ...]:
        """The pods that mount claims."""
        return tuple(pod for pod in self.pods if pod.claims)

    @cached_property
    def host_ports(self) -> frozenset[HostPort]:
        """The host ports in use on the node."""
        return frozenset(port for pod in self.pods for port in pod.host_ports)


def _kept_by(keeping: tuple[Pod, ...], occupancy: Occupancy) -> Occupancy:
    vars(occupancy)["keepers"] = keeping
    return occupancy


EMPTY: Final = Occupancy()
