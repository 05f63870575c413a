"""The failures of a KwokNodeClass that last: those without a count.

They follow from the class alone, so nothing has to be remembered: it is sold out for as long as the
class says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.kwoknodeclass import FaultKind

if TYPE_CHECKING:
    from growth.api.kwoknodeclass import Fault, KwokNodeClass
    from reconciler.providers.port import Offering, Order


def is_sold_out(offering: Offering, node_class: KwokNodeClass, order: Order) -> bool:
    """Whether the class has none of what is ordered."""
    return offering.available == 0 or any(
        fault.kind is FaultKind.STOCK_OUT and fault.count is None and _is_meant(fault, order)
        for fault in node_class.spec.faults
    )


def _is_meant(fault: Fault, order: Order) -> bool:
    return fault.server_type in {None, order.server_type} and fault.location in {
        None,
        order.location,
    }
