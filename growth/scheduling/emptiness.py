"""When is a node empty?

A pod keeps its node unless a DaemonSet, a kubelet (mirror and static pods) or its own end says
that it needs no other. Never narrower: a node with a stranger's pod is not empty, whatever pool or
label the pod has. A pod that is being deleted keeps its node until it is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod


def keeps_its_node(pod: Pod) -> bool:
    """Whether somebody would miss the node because of this pod."""
    return not (pod.is_finished or pod.is_of_daemon_set or pod.is_static)


def keepers(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """The pods that keep their node; none = the node is empty."""
    return tuple(pod for pod in pods if keeps_its_node(pod))
