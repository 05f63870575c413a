"""The injected faults of a KwokNodeClass, and which of them an order or a machine meets.

A fault without a count applies as long as it is in the class. A fault with a count strikes that
many times. The number of strikes so far is recorded on the class (`tally`), under a key made from
the fault, including its count. If you change the count, growth counts from zero again.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from growth.api.kwoknodeclass import FaultKind
from growth.foreign_text import LARGEST_COUNT
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.kwoknodeclass import InjectedFault, KwokNodeClass
    from growth.api.written import ServerTypeName
    from reconciler.providers.port import Offering, Order

STRUCK_ANNOTATION: Final = "growth.dev/kwok-faults-struck"
"""An annotation of the class: how often each counted fault has struck, as JSON."""
EVERYTHING: Final = "*"
_counts = msgspec.json.Decoder(
    dict[str, Annotated[int, msgspec.Meta(ge=0, le=LARGEST_COUNT)]]
).decode


def is_sold_out(offering: Offering, node_class: KwokNodeClass, order: Order) -> bool:
    """Whether the order stays sold out for as long as the class doesn't change."""
    return offering.available == 0 or any(
        fault.count is None
        for _, fault in met(
            node_class, FaultKind.STOCK_OUT, server_type=order.server_type, location=order.location
        )
    )


def met(
    node_class: KwokNodeClass, kind: FaultKind, *, server_type: ServerTypeName, location: str
) -> Iterator[tuple[str, InjectedFault]]:
    """The faults of a kind that apply to this type in this location, each with its key."""
    for key, fault in _keyed(node_class):
        if (
            fault.kind is kind
            and fault.server_type in {None, server_type}
            and fault.location in {None, location}
        ):
            yield key, fault


def struck(node_class: KwokNodeClass) -> Mapping[str, int]:
    """How often each counted fault has struck; an annotation that can't be read counts as zero."""
    try:
        return _counts(node_class.metadata.annotations.get(STRUCK_ANNOTATION, "{}"))
    except UNDECODABLE:
        return {}


def with_another(node_class: KwokNodeClass, key: str) -> str:
    """The annotation after one more strike, without faults that the class no longer has."""
    known = struck(node_class)
    counts = {each: known.get(each, 0) + (each == key) for each, _ in _keyed(node_class)}
    return json.dumps({each: count for each, count in counts.items() if count})


def _keyed(node_class: KwokNodeClass) -> Iterator[tuple[str, InjectedFault]]:
    # Two equal faults in one class are counted separately.
    twins: Counter[str] = Counter()
    for fault in node_class.spec.faults:
        server_type = EVERYTHING if fault.server_type is None else fault.server_type.canonical
        parts = (fault.kind.value, server_type, fault.location or EVERYTHING, str(fault.count))
        key = "/".join(parts)
        twins[key] += 1
        yield f"{key}#{twins[key]}" if twins[key] > 1 else key, fault
