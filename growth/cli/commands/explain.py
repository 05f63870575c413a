"""`growth explain`: why a pod waits, why a node came and stays, what holds a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.api.noderequest import NodeRequest
from growth.cli import explain_node, explain_pod, explain_pool
from growth.cli.connecting import add_connection_arguments, completed
from growth.cli.lists import reading, tell_left_out
from growth.cli.looking_up import node_named, pod_named, pool_named, said_on
from growth.cli.output import add_output_argument, print_json
from growth.cli.story import Story, told
from growth.cli.survey import surveyed

if TYPE_CHECKING:
    import argparse
    from datetime import datetime

    from growth.cli.lists import Lists
    from growth.cli.survey import Survey


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words of this command."""
    parser.add_argument("kind", choices=("pod", "node", "pool"))
    parser.add_argument(
        "name",
        metavar="NAME",
        help="of a pod: NAMESPACE/NAME; of a node: its beginning is enough",
    )
    parser.add_argument("-n", "--namespace", metavar="NAME", help="of the pod")
    add_connection_arguments(parser)
    add_output_argument(parser)
    parser.epilog = (
        "For example: growth explain pod shop/web-0. Read from objects, status and events; "
        "nothing is asked of growth itself, so it answers when growth doesn't run."
    )


def run(arguments: argparse.Namespace) -> int:
    """Tell the story."""
    story, now = completed(_story(arguments))
    if arguments.output == "json":
        print_json(story)
    else:
        for line in told(story, now):
            print(line)
    return 0


async def _story(arguments: argparse.Namespace) -> tuple[Story, datetime]:
    async with reading(arguments) as lists:
        seen = await surveyed(lists)
        tell_left_out(seen.unreadable)
        return await _with_events(arguments, lists, seen), seen.now.wall


async def _with_events(arguments: argparse.Namespace, lists: Lists, seen: Survey) -> Story:
    match arguments.kind:
        case "pod":
            pod = pod_named(arguments.name, arguments.namespace, seen)
            story, metadata = explain_pod.explained(pod, seen), pod.metadata
            events = await said_on(
                lists, "Pod", metadata.name, namespace=metadata.namespace, uid=metadata.uid
            )
        case "node":
            node = node_named(arguments.name, seen)
            if isinstance(node, NodeRequest):
                story = explain_node.awaited(node, seen)
            else:
                story = explain_node.explained(node, seen)
            events = await said_on(lists, story.kind, node.name)
        case _:
            pool = pool_named(arguments.name, seen)
            story = explain_pool.explained(pool, seen)
            events = await said_on(lists, "NodePool", pool.name, uid=pool.metadata.uid)
    return msgspec.structs.replace(story, events=events)
