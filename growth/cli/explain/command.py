"""`growth explain`: why a pod is pending, why a node was bought and is kept, what limits a pool.

Of an Hvpa, it says which size its workload should have, and what keeps it from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from typing_extensions import override

from growth.api.hvpa import Hvpa
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.cli.cluster.connecting import add_connection_arguments, completed
from growth.cli.cluster.events import events_on
from growth.cli.cluster.lists import reading_lists, tell_left_out
from growth.cli.cluster.looking_up import node_named, pod_named, pool_named
from growth.cli.cluster.names import ALONE, KINDS, kind_and_name, kind_of
from growth.cli.cluster.survey import surveyed
from growth.cli.explain import node as explain_node
from growth.cli.explain import pod as explain_pod
from growth.cli.explain import pool as explain_pool
from growth.cli.explain.hvpa import explained_hvpa, hvpa_named
from growth.cli.explain.story import Explanation, explanation_lines
from growth.cli.terminal.output import add_output_argument, print_answer
from growth.clocks import wall_clock
from growth.errors import Misconfigured
from growth.kube.errors import NotFound

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from growth.cli.cluster.lists import Lists
    from growth.cli.cluster.names import ShortNames
    from growth.cli.cluster.survey import Survey


class _Kinds(tuple[str, ...]):
    """The kinds that can be explained; kubectl's spellings, alone or with /NAME, count too."""

    __slots__ = ()

    @override
    def __contains__(self, word: object) -> bool:
        return kind_of(str(word).partition("/")[0]) is not None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument("kind", choices=_Kinds(KINDS), help="or KIND/NAME, as in kubectl")
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="a pod or Hvpa as NAMESPACE/NAME; for a node, any unique part of its name is enough",
    )
    parser.add_argument("-n", "--namespace", metavar="NAME", help="of the pod or Hvpa")
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "For example: growth explain pod shop/web-0, or growth explain node/default-7b0c. "
        "NodeRequests, NodeRecords and NodeRemovalRequests work too: nr/NAME. It reads only "
        "Kubernetes objects and events, so it also works when growth isn't running."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation."""
    arguments.kind, arguments.name = kind_and_name(arguments.kind, arguments.name)
    story, now, names = completed(_story(arguments))
    print_answer(arguments, story, explanation_lines(story, now, names))
    return 0


async def _story(arguments: argparse.Namespace) -> tuple[Explanation, datetime, ShortNames]:
    async with reading_lists(arguments) as lists:
        if arguments.kind == "hvpa":
            # Workloads can be sized in a cluster that has no pools.
            return await _of_hvpa(arguments, lists), wall_clock(), ALONE
        seen = await surveyed(lists)
        tell_left_out(seen.unreadable)
        return await _with_events(arguments, lists, seen), seen.now.wall, seen.names


async def _of_hvpa(arguments: argparse.Namespace, lists: Lists) -> Explanation:
    try:
        hvpas = await lists.all_of(Hvpa.collection(), Hvpa.model_validate_json)
    except NotFound:
        raise Misconfigured(
            "this cluster has no Hvpas; kubectl apply --server-side -k manifests/sizing installs "
            "their definition"
        ) from None
    tell_left_out(lists.unreadable)
    hvpa = hvpa_named(arguments.name, arguments.namespace, hvpas)
    metadata = hvpa.metadata
    events = await events_on(
        lists, "Hvpa", hvpa.name, namespace=metadata.namespace, uid=metadata.uid
    )
    return msgspec.structs.replace(explained_hvpa(hvpa, wall_clock()), events=events)


async def _with_events(arguments: argparse.Namespace, lists: Lists, seen: Survey) -> Explanation:
    match arguments.kind:
        case "pod":
            pod = pod_named(arguments.name, arguments.namespace, seen)
            story, metadata = explain_pod.explained_pod(pod, seen), pod.metadata
            events = await events_on(
                lists, "Pod", metadata.name, namespace=metadata.namespace, uid=metadata.uid
            )
        case "node":
            node = node_named(arguments.name, seen)
            match node:
                case NodeRequest():
                    story = explain_node.awaited(node, seen)
                case NodeRemovalRequest():
                    story = explain_node.leaving(node, seen)
                case NodeRecord():
                    story = explain_node.recorded(node, seen)
                case _:
                    story = explain_node.explained_node(node, seen)
            events = await events_on(lists, story.kind, node.name)
        case _:
            pool = pool_named(arguments.name, seen)
            story = explain_pool.explained_pool(pool, seen)
            events = await events_on(lists, "NodePool", pool.name, uid=pool.metadata.uid)
    return msgspec.structs.replace(story, events=events, growth=seen.trouble)
