"""The pods of one node, and their sums.

A value of its own for each node, so that a pod that comes or goes costs the sums of its node only
and every other node's are shared between one snapshot of the cluster and the next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling import resources
from growth.scheduling.emptiness import keepers
from growth.scheduling.owners import Owner, workload_of
from growth.scheduling.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.ports import HostPort
    from growth.scheduling.resources import Resources


class Occupancy(msgspec.Struct, frozen=True, dict=True):
    """What is on a node. Finished pods hold nothing and are not kept."""

    pods: tuple[Pod, ...] = ()

    def having(self, pod: Pod) -> Occupancy:
        """The same with this pod, in place of what was known of it before."""
        others = self.lacking(pod)
        return others if pod.is_finished else Occupancy((*others.pods, pod))

    def lacking(self, pod: Pod) -> Occupancy:
        """The same without this pod."""
        # A change of a pod brings a new object: its uid tells that it is the same pod.
        uid = pod.metadata.uid
        return Occupancy(tuple(each for each in self.pods if each.metadata.uid != uid))

    @cached_property
    def requested(self) -> Resources:
        """What is taken of the node."""
        return resources.total(pod.requests for pod in self.pods)

    @cached_property
    def by_namespace(self) -> Mapping[str, tuple[Pod, ...]]:
        """The pods of each namespace: most rules between pods stay within one."""
        found: defaultdict[str, list[Pod]] = defaultdict(list)
        for pod in self.pods:
            found[pod.metadata.namespace].append(pod)
        return {namespace: tuple(pods) for namespace, pods in found.items()}

    @cached_property
    def by_workload(self) -> Mapping[Owner, int]:
        """How many pods of each workload there are."""
        return Counter(workload_of(pod) for pod in self.pods)

    @cached_property
    def controllers(self) -> frozenset[str]:
        """The uids of those who manage its pods."""
        owners = (pod.metadata.controller for pod in self.pods)
        return frozenset(owner.uid for owner in owners if owner is not None)

    @cached_property
    def repelling(self) -> tuple[Pod, ...]:
        """The pods that don't want certain others near them."""
        return tuple(pod for pod in self.pods if pod.anti_affinity_terms)

    @cached_property
    def keepers(self) -> tuple[Pod, ...]:
        """The pods that keep the node; none = it is empty."""
        return keepers(self.pods)

    @cached_property
    def with_claims(self) -> tuple[Pod, ...]:
        """The pods that mount claims."""
        return tuple(pod for pod in self.pods if pod.claims)

    @cached_property
    def host_ports(self) -> frozenset[HostPort]:
        """The ports that are taken on the node."""
        return frozenset(port for pod in self.pods for port in pod.host_ports)


EMPTY: Final = Occupancy()
