"""Events about a pool, one for each new problem in its status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.conditions import condition_of_type
from growth.api.nodeclass import ANOTHER_WRITER
from growth.api.written import write_time
from reconciler.pools.learning import learnt_text
from reconciler.provisioning.writing import warned
from reconciler.removal.another_writer import HELD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.api.nodepool_status import NodePoolStatus
    from reconciler.core.actions import Action


def status_events(pool: NodePool, after: NodePoolStatus) -> Iterator[Action]:
    """The events for what is new in a status."""
    before = pool.status
    blocked = after.blocked
    if blocked is not None and (before.blocked is None or blocked.reason != before.blocked.reason):
        yield warned(pool, reason="Blocked", note=f"Nothing is bought: {blocked.message}")
    for note in (*_learnt(before, after), *_in_vain(before, after), *_not_alone(before, after)):
        yield warned(pool, reason=note[0], note=note[1])


def _learnt(before: NodePoolStatus, after: NodePoolStatus) -> Iterator[tuple[str, str]]:
    known = {each.server_type: each for each in before.learnt_allocatable}
    for each in after.learnt_allocatable:
        if known.get(each.server_type) != each:
            yield "SmallerThanPromised", f"{learnt_text(each)}. Plans use these values from now on."


def _not_alone(before: NodePoolStatus, after: NodePoolStatus) -> Iterator[tuple[str, str]]:
    known, held = (condition_of_type(each.conditions, HELD) for each in (before, after))
    if held is None or held.reason != ANOTHER_WRITER:
        return
    if known is None or known.reason != ANOTHER_WRITER:
        yield ANOTHER_WRITER, held.message


def _in_vain(before: NodePoolStatus, after: NodePoolStatus) -> Iterator[tuple[str, str]]:
    known = {(each.shape, each.offering) for each in before.unserved}
    for each in after.unserved:
        if (each.shape, each.offering) not in known:
            note = (
                f"{each.offering} was bought for pods of {each.owner} and serves, but the "
                "scheduler does not use it for them. It isn't bought for them again before "
                f"{write_time(each.until)}: check whether something changes taints or labels of "
                "new nodes."
            )
            yield "BoughtInVain", note
