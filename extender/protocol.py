"""What kube-scheduler sends and what it is answered, in bytes.

The envelope is taken apart without looking into it: the names of the nodes, or the nodes, leave as
the bytes as which they came, so nothing can be lost, reordered or spelled differently on the way.
Of the pod only its head is read. The scheduler spells the envelope's keys as Go fields and matches
those of an answer without regard to case; the same is done here.
"""

from __future__ import annotations

from typing import Final

import msgspec

from growth.scheduling.metadata import Metadata
from growth.undecodable import UNDECODABLE


class Malformed(ValueError):
    """There is nothing in it that could be handed back; the text says what is wrong, in one line.

    It is refused with an error, which the scheduler passes over as if nobody had been asked. Any
    other answer would reject nodes: an empty one rejects all.
    """


class PodHead(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Which pod is meant, and in which version the scheduler knows it."""

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
    """How well a node suits the pod, from 0 to 10."""

    host: str
    score: int


_NOTHING: Final = msgspec.Raw(b"null")
_envelope = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_pod = msgspec.json.Decoder(_Pod).decode
_whole_pod = msgspec.json.Decoder(_WholePod).decode
_names = msgspec.json.Decoder(list[str]).decode
_nodes = msgspec.json.Decoder(_Nodes).decode
_scores = msgspec.json.Encoder().encode


class Arguments(msgspec.Struct, frozen=True, gc=False):
    """ExtenderArgs: a pod, and the nodes that are left for it, by name or in full."""

    pod: msgspec.Raw
    names: msgspec.Raw
    nodes: msgspec.Raw

    @property
    def unchanged(self) -> bytes:
        """The answer of a filter that takes no node away."""
        if not _is(self.nodes, b"{"):
            return b"".join((b'{"NodeNames":', memoryview(self.names), b"}"))
        if not _is(self.names, b"["):
            return b"".join((b'{"Nodes":', memoryview(self.nodes), b"}"))
        both = (b'{"NodeNames":', self.names, b',"Nodes":', self.nodes, b"}")
        return b"".join(memoryview(each) for each in both)

    @property
    def is_about_no_node(self) -> bool:
        """Whether its list of names is empty; the scheduler never asks so."""
        return bytes(memoryview(self.names)[:3]) == b"[]"

    @property
    def head(self) -> PodHead:
        """Which pod it is; an empty uid where that can't be read."""
        try:
            return _pod(self.pod).metadata
        except UNDECODABLE:
            return PodHead()

    @property
    def metadata(self) -> Metadata:
        """Which pod it is, and whose; an empty uid where that can't be read."""
        try:
            return _whole_pod(self.pod).metadata
        except UNDECODABLE:
            return Metadata()

    @property
    def hosts(self) -> list[str]:
        """The names of the nodes, in whichever form they came."""
        try:
            if _is(self.names, b"["):
                return _names(self.names)
            return [node.metadata.name for node in _nodes(self.nodes).items or ()]
        except UNDECODABLE as error:
            raise Malformed(f"the nodes can't be read: {error}") from None


def read_arguments(body: bytes) -> Arguments:
    """Takes the envelope apart."""
    try:
        found = {key.lower(): raw for key, raw in _envelope(body).items()}
    except UNDECODABLE as error:
        raise Malformed(f"this is no ExtenderArgs: {error}") from None
    names, nodes = found.get("nodenames", _NOTHING), found.get("nodes", _NOTHING)
    if not (_is(names, b"[") or _is(nodes, b"{")):
        raise Malformed("this is no ExtenderArgs: it has neither a list NodeNames nor Nodes")
    return Arguments(pod=found.get("pod", _NOTHING), names=names, nodes=nodes)


def priority_list(scores: dict[str, int]) -> bytes:
    """HostPriorityList."""
    return _scores([Score(host, score) for host, score in scores.items()])


def _is(raw: msgspec.Raw, first: bytes) -> bool:
    return bytes(memoryview(raw)[:1]) == first
