"""The messages of kube-scheduler and our answers, as bytes.

Only the envelope is decoded. The node names, or the nodes, are returned as the bytes that were
received, so nothing can be lost, reordered or changed. Of the pod only the metadata is read. The
scheduler writes the keys of the envelope as Go fields, and ignores case in answers; so do we.
"""

from __future__ import annotations

from typing import Final

import msgspec

from growth.scheduling.metadata import Metadata
from growth.undecodable import UNDECODABLE


class Malformed(ValueError):
    """The message can't be answered; the text says what is wrong, in one line.

    The scheduler gets an error, which it ignores as if there were no extender. Any other answer
    would reject nodes: an empty list rejects all of them.
    """


class PodHead(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The pod, and the version of it that the scheduler has seen."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Pod(msgspec.Struct, frozen=True, gc=False):
    metadata: PodHead = PodHead()


class _WholePod(msgspec.Struct, frozen=True, gc=False):
    metadata: Metadata = Metadata()


class _Node(msgspec.Struct, frozen=True, gc=False):
    metadata: PodHead = PodHead()


class _Nodes(msgspec.Struct, frozen=True, gc=False):
    items: list[_Node] | None = None


class Score(msgspec.Struct, frozen=True, gc=False, rename="pascal"):
    """The score of a node for the pod, from 0 to 10."""

    host: str
    score: int


LONGEST_ID: Final = 64
"""Characters of a uid or version; those of Kubernetes are shorter. They are kept for a while, so
what a caller sends must not be longer."""
_NOTHING: Final = msgspec.Raw(b"null")
_envelope = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_pod = msgspec.json.Decoder(_Pod).decode
_whole_pod = msgspec.json.Decoder(_WholePod).decode
_names = msgspec.json.Decoder(list[str]).decode
_nodes = msgspec.json.Decoder(_Nodes).decode
_scores = msgspec.json.Encoder().encode


class Arguments(msgspec.Struct, frozen=True, gc=False):
    """ExtenderArgs: a pod and the nodes that fit so far, by name or as objects."""

    pod: msgspec.Raw
    names: msgspec.Raw
    nodes: msgspec.Raw

    @property
    def unchanged(self) -> bytes:
        """The answer of a filter that removes no node."""
        if not _is(self.nodes, b"{"):
            return b"".join((b'{"NodeNames":', memoryview(self.names), b"}"))
        if not _is(self.names, b"["):
            return b"".join((b'{"Nodes":', memoryview(self.nodes), b"}"))
        both = (b'{"NodeNames":', self.names, b',"Nodes":', self.nodes, b"}")
        return b"".join(memoryview(each) for each in both)

    @property
    def is_about_no_node(self) -> bool:
        """Whether the list of names is empty; the scheduler never sends this."""
        return bytes(memoryview(self.names)[:3]) == b"[]"

    @property
    def head(self) -> PodHead:
        """The pod; its uid is "" if it can't be read."""
        try:
            read = _pod(self.pod).metadata
        except UNDECODABLE:
            return PodHead()
        return read if _has_short_ids(read) else PodHead()

    @property
    def metadata(self) -> Metadata:
        """The metadata of the pod; its uid is "" if it can't be read."""
        try:
            read = _whole_pod(self.pod).metadata
        except UNDECODABLE:
            return Metadata()
        return read if _has_short_ids(read) else Metadata()

    @property
    def hosts(self) -> list[str]:
        """The names of the nodes, from either form."""
        try:
            if _is(self.names, b"["):
                return _names(self.names)
            return [node.metadata.name for node in _nodes(self.nodes).items or ()]
        except UNDECODABLE as error:
            raise Malformed(f"the nodes can't be read: {error}") from None


def read_arguments(body: bytes) -> Arguments:
    """Decode the envelope."""
    try:
        found = {key.lower(): raw for key, raw in _envelope(body).items()}
    except UNDECODABLE as error:
        raise Malformed(f"this isn't ExtenderArgs: {error}") from None
    names, nodes = found.get("nodenames", _NOTHING), found.get("nodes", _NOTHING)
    if not (_is(names, b"[") or _is(nodes, b"{")):
        raise Malformed("this isn't ExtenderArgs: it has neither a list NodeNames nor Nodes")
    return Arguments(pod=found.get("pod", _NOTHING), names=names, nodes=nodes)


def priority_list(scores: dict[str, int]) -> bytes:
    """The scores as a HostPriorityList."""
    return _scores([Score(host, score) for host, score in scores.items()])


def _has_short_ids(pod: PodHead | Metadata) -> bool:
    return len(pod.uid) <= LONGEST_ID and len(pod.resource_version) <= LONGEST_ID


def _is(raw: msgspec.Raw, first: bytes) -> bool:
    return bytes(memoryview(raw)[:1]) == first
