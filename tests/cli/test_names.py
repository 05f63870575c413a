"""Names: machines have one short form everywhere, and any part that is theirs alone finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from growth.api.kinds import KINDS as OURS
from growth.cli.cluster.looking_up import node_named, pod_named, pool_named
from growth.cli.cluster.names import KINDS, ShortNames, bare, kind_and_name
from growth.cli.explain.node import awaited, explained_node, leaving
from growth.cli.explain.story import explanation_lines
from growth.cli.status import command as status
from growth.cli.status.overview import overview
from growth.cli.status.watched import WatchedCluster, watched_in
from growth.cli.top.bars import fleet_bars
from growth.cli.top.bars import fleet_lines as shown_by_top
from growth.cli.watch import command as watch
from growth.cli.watch.happenings import happenings
from growth.errors import Misconfigured
from tests.cli.seen import NOW, node, pod, pool, removal, request, seen, waiting
from tests.cli.test_commands import refused

if TYPE_CHECKING:
    from growth.cli.cluster.survey import Survey

FIRST = "default-6f1f2d3c-1111-4222-8333-abcdefabcdef"
NEAR_IT = "default-6f1f2d99-1111-4222-8333-abcdefabcdef"
OTHER = "default-0b7c2d3c-1111-4222-8333-6f1f00000000"
GPU = "gpu-6f1f2d3c-1111-4222-8333-abcdefabcdef"
NAMED = "default-0b7c"
"""A name that a person has given, and that looks like a short one."""
LONG = "a-pool-of-no-less-than-26-x-0b7c2d3c-1111-4222-8333-abcdefabcdef"


# What is shown


@pytest.mark.parametrize(
    ("name", "known", "short"),
    [
        (FIRST, [], "default-6f1f"),
        (FIRST, [FIRST, OTHER, GPU], "default-6f1f"),
        (FIRST, [FIRST, NEAR_IT], "default-6f1f2d3"),
        (NEAR_IT, [FIRST, NEAR_IT], "default-6f1f2d9"),
        (FIRST, [FIRST, FIRST[:16] + "-ffff" + FIRST[21:]], "default-6f1f2d3c-1"),
        (OTHER, [OTHER, NAMED], "default-0b7c2"),
        (NAMED, [OTHER, NAMED], NAMED),
        (LONG, [LONG], "a-pool-of-no-less-than-26-x-0b7c"),
        ("ip-10-0-0-1", ["ip-10-0-0-1"], "ip-10-0-0-1"),
    ],
)
def test_a_short_name_is_as_long_as_tells_it_from_all_others(
    name: str, known: list[str], short: str
) -> None:
    assert ShortNames(known).of(name) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (f"it takes the place of {FIRST}", "it takes the place of default-6f1f"),
        (f"{FIRST}, {OTHER}: gone", "default-6f1f, default-0b7c: gone"),
        (f"kube-system/agent-{FIRST} is there", f"kube-system/agent-{FIRST} is there"),
        (
            f"{FIRST} stays: kubectl delete nodeRemovalRequest {FIRST} tries again",
            f"default-6f1f stays: kubectl delete nodeRemovalRequest {FIRST} tries again",
        ),
        ("uid 6f1f2d3c-1111-4222-8333-abcdefabcdef", "uid 6f1f2d3c-1111-4222-8333-abcdefabcdef"),
    ],
)
def test_in_a_text_only_machines_are_shortened_and_nothing_that_kubectl_is_told(
    text: str, short: str
) -> None:
    assert ShortNames([FIRST, OTHER]).in_text(text) == short


def crowd() -> Survey:
    return seen(
        *(node(name) for name in (FIRST, NEAR_IT)),
        request(OTHER, "Provisioning", pods=(waiting("web-0"),)),
        removal(GPU),
        *(pool(name) for name in ("default", "gpu")),
        pod("web-1", on=FIRST),
        waiting("huge-85f7d9c-x2x4z"),
        waiting("huge-85f7d9c-abcde", namespace="default"),
        waiting("db-0"),
        waiting("db-0", namespace="other"),
        waiting("db-0", namespace="third"),
    )


def test_every_command_shows_the_same_short_names() -> None:
    there = crowd()
    after = watched_in(there)
    lines = [
        *status.overview_lines(overview(after, NOW, there.kept), there.names),
        *(
            watch.happening_line(each, after.names)
            for each in happenings(WatchedCluster(), after, NOW)
        ),
        *shown_by_top(fleet_bars(there), NOW, there.names),
        *explanation_lines(
            explained_node(there.scene.cluster.nodes[FIRST], there), NOW, there.names
        ),
        *explanation_lines(awaited(there.scene.requests[OTHER], there), NOW, there.names),
        *explanation_lines(leaving(there.scene.removals[GPU], there), NOW, there.names),
    ]
    text = "\n".join(lines)

    assert "1111-4222" not in text
    assert all(each in text for each in ("default-6f1f2d3 ", "default-0b7c ", "gpu-6f1f "))


# What is typed


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (FIRST, FIRST),
        ("default-6f1f2d3", FIRST),
        ("0b7c", OTHER),
        ("6f1f2d9", NEAR_IT),
        ("000000", OTHER),
        ("gpu", GPU),
        ("GPU-6F1F", GPU),
    ],
)
def test_any_part_that_no_other_has_finds_a_node_a_request_or_a_removal(
    part: str, name: str
) -> None:
    assert node_named(part, crowd()).name == name


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("default", '"default" matches 3 nodes: default-0b7c, default-6f1f2d3, '),
        ("6f1f", '"6f1f" matches 3 nodes: default-6f1f2d3, default-6f1f2d9, gpu-6f1f'),
        ("defolt-0b7c", 'no node "defolt-0b7c"; did you mean default-0b7c?'),
        ("zzz", 'no node "zzz"; there are default-0b7c, default-6f1f2d3, default-6f1f2d9, gpu-6'),
    ],
)
def test_a_part_of_several_lists_them_and_an_unknown_one_asks(part: str, said: str) -> None:
    with pytest.raises(Misconfigured) as refusal:
        node_named(part, crowd())
    assert str(refusal.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "namespace", "found"),
    [
        ("web-1", None, "shop/web-1"),
        ("other/db-0", None, "other/db-0"),
        ("db-0", "third", "third/db-0"),
        ("huge-85f7d9c-abcde", None, "default/huge-85f7d9c-abcde"),
    ],
)
def test_a_pod_is_found_by_its_name_alone_where_that_says_enough(
    name: str, namespace: str | None, found: str
) -> None:
    assert pod_named(name, namespace, crowd()).name == found


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("db-0", '"db-0" matches 3 pods: other/db-0, shop/db-0, third/db-0'),
        ("huge", 'no pod "huge"; did you mean huge-85f7d9c-abcde?'),
        ("shop/huge", 'no pod "shop/huge"; did you mean shop/huge-85f7d9c-x2x4z?'),
        ("nothing", 'no pod "nothing"'),
    ],
)
def test_a_pod_that_is_not_there_or_there_twice_is_one_line(name: str, said: str) -> None:
    with pytest.raises(Misconfigured) as refusal:
        pod_named(name, None, crowd())
    assert str(refusal.value) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("defaut", 'no pool "defaut"; did you mean default?'),
        ("web", 'no pool "web"; there are default, gpu'),
    ],
)
def test_a_pool_that_is_not_there_is_one_line(name: str, said: str) -> None:
    there = crowd()
    assert pool_named("gpu", there).name == "gpu"
    with pytest.raises(Misconfigured) as refusal:
        pool_named(name, there)
    assert str(refusal.value) == said


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("pod", "web-0"), ("pod", "web-0")),
        (("pod/web-0", None), ("pod", "web-0")),
        (("po", "shop/web-0"), ("pod", "shop/web-0")),
        (("pod/shop/web-0", None), ("pod", "shop/web-0")),
        (("no/0b7c", None), ("node", "0b7c")),
        (("nr/0b7c", None), ("node", "0b7c")),
        (("NodeRemovalRequest/0b7c", None), ("node", "0b7c")),
        (("np/default", None), ("pool", "default")),
        (("nodepool.growth.dev/default", None), ("pool", "default")),
    ],
)
def test_kinds_are_spelled_as_with_kubectl(
    words: tuple[str, str | None], meant: tuple[str, str]
) -> None:
    assert kind_and_name(*words) == meant


def test_every_kind_that_can_be_explained_is_known_by_all_its_names() -> None:
    spelled = {word for words in KINDS.values() for word in words}
    explained_kinds = ("NodePool", "NodeRequest", "NodeRemovalRequest")

    assert {name for kind in explained_kinds for name in OURS[kind].kind_names} <= spelled


@pytest.mark.parametrize(
    "words", [["pod"], ["pod/"], ["pod/web-0", "web-1"], ["deployment/web"], ["/web"]]
)
def test_what_names_nothing_or_two_things_is_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "explain", *words)


@pytest.mark.parametrize("word", ["default", "pool/default", "np/default", "NodePool/default"])
def test_a_pool_to_be_paused_may_be_named_as_kubectl_does(word: str) -> None:
    assert bare(word, kind="pool") == "default"
