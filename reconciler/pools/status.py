"""The status of one pool: counts, blockage, refused offers, and conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.conditions import Truth, conditions_of, joined_conditions, stated
from growth.api.scaling import ScalingPolicyName
from growth.api.scaling_status import ScalingStatus
from growth.api.wellknown import POOL_LABEL
from growth.keeping.size import scaling_status
from reconciler.buying import blocking
from reconciler.facts.node_classes import node_class_of
from reconciler.facts.sizes import size_of_pool
from reconciler.pools.blocked import blockage_for_status
from reconciler.pools.paused import pause_end
from reconciler.pools.refused import unmet_offers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.conditions import Condition
    from growth.api.nodepool import NodePool
    from growth.api.nodepool_status import NodePoolStatus
    from reconciler.provisioning.look import ProvisioningLook

NULLABLE: Final = ("blocked", "pausedUntil", "scaling")


def status_of_pool(
    pool: NodePool,
    look: ProvisioningLook,
    figures: Mapping[str, Any],
    said: Iterable[Condition],
) -> NodePoolStatus:
    """The status as it should be now; the same object if nothing has changed, as usual."""
    news = {
        **figures,
        "observed_generation": pool.metadata.generation,
        "unmet_offers": unmet_offers(pool, look.failed.get(pool.name, ()), look.world),
        "blocked": blockage_for_status(pool, look),
        "selector": _selector(pool),
        "scaling": scaling_status(
            size_of_pool(pool, look.world),
            policy=pool.spec.scaling.policy,
            before=pool.status.scaling,
            now=look.now.wall,
        ),
        "paused_until": pause_end(pool, look.world),
        "observed": look.world.ledger.observing.written.get(pool.name, pool.status.observed),
    }
    status = _with(pool.status, news)
    before, generation = pool.status.conditions, pool.metadata.generation
    derived = (
        *conditions_of(status.verdict, generation=generation, before=before, now=look.now.wall),
        _of_node_class(pool, status, look),
    )
    types = {each.type for each in derived}
    stands = (*derived, *(each for each in before if each.type not in types))
    return _with(status, {"conditions": joined_conditions(stands, *said)})


def _selector(pool: NodePool) -> str:
    """Only a pool whose number can be set has one."""
    goes_by_number = pool.spec.scaling.policy == ScalingPolicyName.DESIRED
    return f"{POOL_LABEL}={pool.name}" if goes_by_number else ""


def written(status: NodePoolStatus) -> Mapping[str, Any]:
    """The status as a merge patch, in which unset fields must be null."""
    document = {**dict.fromkeys(NULLABLE), **status.document()}
    if status.scaling is None:
        return document
    unset = dict.fromkeys(ScalingStatus.field_names())
    return {**document, "scaling": {**unset, **document["scaling"]}}


def _with(status: NodePoolStatus, news: Mapping[str, Any]) -> NodePoolStatus:
    """The status with these fields; the same object if they don't change it."""
    are_known = all(getattr(status, name) == value for name, value in news.items())
    return status if are_known else status.model_copy(update=news)


def _of_node_class(pool: NodePool, status: NodePoolStatus, look: ProvisioningLook) -> Condition:
    """Whether machines can be created; observedGeneration is that of the node class."""
    blocked = status.blocked
    node_class = look.world.node_classes.get(node_class_of(pool, look.world))
    return stated(
        pool.status.conditions,
        name=blocking.CONDITION,
        status=Truth.TRUE if blocked is None else Truth.FALSE,
        generation=0 if node_class is None else node_class.metadata.generation,
        reason="Usable" if blocked is None else blocked.reason,
        message="" if blocked is None else blocked.message,
        now=look.now.wall,
    )
