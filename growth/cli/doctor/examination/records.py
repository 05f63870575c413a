"""Does each machine have its record, and does only its Node claim it?

Only the provider's list, which no command reads, shows whether a machine exists. So this compares
records with Nodes, and names what the reconciler hasn't put in order yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.noderecord import CONTESTED, NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import MANAGED_BY, MANAGED_BY_LABEL
from growth.cli.doctor.examination.finding import ok, warn
from growth.cli.terminal.texts import counted, first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from growth.cli.doctor.examination.finding import ExaminedCluster, Finding, Findings

    Document = dict[str, Any]

SUBJECT: Final = "records"
NODES: Final = "/api/v1/nodes"


async def examine_records(place: ExaminedCluster) -> Findings:
    """Compare records with Nodes, requests and removals."""
    records = await place.listed(NodeRecord.collection())
    nodes = await place.listed(NODES)
    told = {
        _name(each)
        for kind in (NodeRequest, NodeRemovalRequest)
        for each in await place.listed(kind.collection())
    }
    doubts = [
        *_without_record(nodes, set(map(_name, records)) | told),
        *_without_node(records, set(map(_name, nodes)) | told),
        *_contested(records),
    ]
    if records and not doubts:
        yield ok(SUBJECT, f"{counted(len(records), 'machine')}, each with its record")
    for doubt in doubts:
        yield doubt


def _without_record(nodes: Iterable[Document], known: AbstractSet[str]) -> Iterator[Finding]:
    """Nodes that say that growth manages them. A request may be about to get its record."""
    claiming = [
        _name(each)
        for each in nodes
        if each["metadata"].get("labels", {}).get(MANAGED_BY_LABEL) == MANAGED_BY
    ]
    if missing := sorted(set(claiming) - known):
        text = f"no NodeRecord for {counted(len(missing), 'Node')} with growth's labels: "
        hint = (
            "growth ignores such a Node. After an upgrade, records follow within a minute; if "
            "growth didn't buy it, remove its labels below growth.dev/"
        )
        yield warn(SUBJECT, text + first_few(missing), hint)


def _without_node(records: Iterable[Document], known: AbstractSet[str]) -> Iterator[Finding]:
    """Machines that are paid for, as far as growth knows, and that no Node or request tells of."""
    if missing := sorted(set(map(_name, records)) - known):
        text = f"no Node for {counted(len(missing), 'NodeRecord')}: "
        hint = (
            "growth deletes the record once the provider doesn't list the machine, and the machine "
            "if it does; if this lasts for an hour, check the log of the reconciler"
        )
        yield warn(SUBJECT, text + first_few(missing), hint)


def _contested(records: Iterable[Document]) -> Iterator[Finding]:
    for each in records:
        for condition in each.get("status", {}).get("conditions", ()):
            if condition["type"] == CONTESTED and condition["status"] == "True":
                hint = "delete that Node if nobody needs it, or mend how its kubelet registers"
                yield warn(SUBJECT, f"{_name(each)}: {condition['message']}", hint)


def _name(document: Document) -> str:
    return str(document["metadata"]["name"])
