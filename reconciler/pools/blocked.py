"""Why a pool is blocked: because of its node class, or because of the answer to a create."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.meta import Blockage
from growth.api.noderequest import RequestPhase
from reconciler.buying import blocking
from reconciler.buying.blocking import ANSWERED, LONGEST
from reconciler.providers.port import Failed
from reconciler.provisioning.pending import is_current

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from reconciler.provisioning.look import ProvisioningLook


def blockage_for_status(pool: NodePool, look: ProvisioningLook) -> Blockage | None:
    """The blockage for the pool's status."""
    known = blocking.standing_blockage(pool, look.world, look.now)
    return known if known is not None else next(_answered(pool, look), None)


def _answered(pool: NodePool, look: ProvisioningLook) -> Iterator[Blockage]:
    """Failures of creates that a retry can't fix, for pool and class as they are now."""
    for name, answered in sorted(look.world.answers.items()):
        request = look.world.requests.get(name)
        match answered.answer:
            case Failed(failure=failure, reason=reason) if failure in ANSWERED and request:
                if _is_open(request, pool) and is_current(answered, request, pool, look):
                    yield Blockage(reason=ANSWERED[failure], message=reason[:LONGEST])
            case _:
                continue


def _is_open(request: NodeRequest, pool: NodePool) -> bool:
    is_going = request.metadata.deletion_timestamp is not None
    is_pending = request.status.phase is RequestPhase.PENDING
    return request.spec.pool == pool.name and is_pending and not is_going
