"""What is wrong with growth itself stands in the first line of each command that is asked."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from typing_extensions import override

import growth
from growth.api.wellknown import (
    POOL_LABEL,
    PUT_ASIDE_ANNOTATION,
    WRITING_STOPPED_ANNOTATION,
)
from growth.api.written import write_time
from growth.cli.__main__ import main
from growth.cli.cluster.lists import Lists
from growth.cli.cluster.trouble import Matter, Signs, Trouble, trouble, trouble_of
from growth.cli.cost import command as cost
from growth.cli.cost.spending import spending
from growth.cli.explain import pod as explain_pod
from growth.cli.explain.story import explanation_lines as told_story
from growth.cli.status import command as status
from growth.cli.status.overview import overview
from growth.cli.status.watched import WatchedCluster, watched, watched_in
from growth.cli.top import bars
from growth.cli.top.bars import fleet_bars
from growth.cli.watch.happenings import happenings
from growth.cli.watch.settling import STANDSTILL, Settling
from growth.errors import GiveUp
from growth.kube.errors import Unreachable
from growth.kube.transport import Response
from tests.cli.installed import APPS, NAMESPACE, Cluster, connection, installed, lead
from tests.cli.seen import NOW, moment, pool, request, seen, waiting
from tests.live import wait_until
from tests.thread.growing import pool_of

if TYPE_CHECKING:
    from tests.live import LiveCluster

RULE = "MaximumKept: 4 nodes in pool web, 3 allowed"
NO_LEADER = Trouble(
    reason=Matter.NOBODY_LEADS,
    text="no reconciler leads; nothing is planned",
    hint="run growth doctor for the reason",
)
PAUSED = Trouble(reason=Matter.PAUSED, text="all pools are paused", hint="growth resume")
WEBHOOKS_AWAY = Trouble(reason=Matter.PROCESS_NOT_READY, text="no pod is ready", hint="doctor")
LINE = f"growth itself: {NO_LEADER.text} ({NO_LEADER.hint})"


def lease(holder: str = "one", /, *, ago: float = 1, within: str = "a", rule: str = "") -> Any:
    """A Lease for 15 seconds."""
    held = {"holderIdentity": holder, "renewTime": moment(ago=ago), "leaseDurationSeconds": 15}
    noted = {WRITING_STOPPED_ANNOTATION: rule} if rule else {}
    return {"metadata": {"namespace": within, "annotations": noted}, "spec": held}


def deployment(name: str, *, ready: int, wanted: int = 2) -> Any:
    return {
        "metadata": {"name": name},
        "spec": {"replicas": wanted},
        "status": {"readyReplicas": ready} if ready else {},
    }


def running(image: str) -> Any:
    """A Deployment of one image, all of whose pods are ready."""
    template = {"spec": {"containers": [{"image": image}]}}
    made = deployment("growth-reconciler", ready=2)
    return made | {"spec": made["spec"] | {"template": template}}


def daemons(name: str, *, ready: int, wanted: int) -> Any:
    status = {"desiredNumberScheduled": wanted, "numberReady": ready}
    return {"metadata": {"name": name}, "spec": {}, "status": status}


LED = (lease(),)
TROUBLES: dict[str, tuple[dict[str, Any], str]] = {
    "one leads": ({"leases": LED}, ""),
    "no Lease at all": ({"leases": ()}, "no reconciler has ever led; nothing is planned"),
    "an empty Lease": ({"leases": (lease(""),)}, NO_LEADER.text),
    "a silent holder": ({"leases": (lease(ago=16),)}, NO_LEADER.text),
    "a holder that is as old as it may be": ({"leases": (lease(ago=15),)}, ""),
    "two lead": (
        {"leases": (lease(), lease("two", within="b"))},
        "several reconcilers lead, in a, b; all of them buy for the same pods",
    ),
    "one leads and one was": ({"leases": (lease(), lease(ago=60, within="b"))}, ""),
    "writing stopped": (
        {"leases": (lease(rule=RULE),)},
        f"the reconciler has stopped writing: {RULE}",
    ),
    "writing stopped, and gone since": ({"leases": (lease(rule=RULE, ago=60),)}, NO_LEADER.text),
    "paused": (
        {"leases": LED, "pauses": {"a": moment(ago=-60)}},
        f"all pools are paused until {moment(ago=-60)}",
    ),
    "a pause that is over": ({"leases": LED, "pauses": {"a": moment(ago=60)}}, ""),
    "a pause without a time": (
        {"leases": LED, "pauses": {"a": "soon"}},
        'all pools are paused without an end: "soon" is not a valid time',
    ),
    "paused while nobody leads": (
        {"leases": (lease(""),), "pauses": {"a": moment(ago=-60)}},
        NO_LEADER.text,
    ),
    "no webhook is ready": (
        {"leases": LED, "workloads": (deployment("growth-webhooks", ready=0),)},
        "no pod of growth-webhooks is ready: new pods get no tolerations for pools",
    ),
    "one webhook is ready": (
        {"leases": LED, "workloads": (deployment("growth-webhooks", ready=1),)},
        "",
    ),
    "no webhook is wanted": (
        {"leases": LED, "workloads": (deployment("growth-webhooks", ready=0, wanted=0),)},
        "",
    ),
    "no extender is ready": (
        {"leases": LED, "workloads": (daemons("growth-extender", ready=0, wanted=3),)},
        "no pod of growth-extender is ready: kube-scheduler works without growth's priorities",
    ),
    "an older image": (
        {"leases": LED, "workloads": (running("r.test/growth-reconciler:0.0.1@sha256:ab"),)},
        f"growth-reconciler has version 0.0.1, this command {growth.__version__}",
    ),
    "an image of this version": (
        {"leases": LED, "workloads": (running(f"growth-servers:{growth.__version__}"),)},
        "",
    ),
    "an image of one's own": ({"leases": LED, "workloads": (running("growth-servers:dev"),)}, ""),
    "a scheduler of its version": (
        {"leases": LED, "workloads": (running("r.test/kube-scheduler:v1.36.3"),)},
        "",
    ),
    "somebody else's Deployment": (
        {"leases": LED, "workloads": (deployment("growth-dashboard", ready=0),)},
        "",
    ),
}


@pytest.mark.parametrize(("signs", "text"), TROUBLES.values(), ids=TROUBLES.keys())
def test_the_gravest_thing_that_is_wrong_is_told_and_nothing_when_all_is_well(
    signs: dict[str, Any], text: str
) -> None:
    found = trouble(Signs(now=NOW, **signs))
    assert (found.text if found else "") == text


def first_lines(growth: Trouble | None) -> dict[str, str]:
    """What commands print first of the same cluster."""
    waits = waiting("web-0")
    view = msgspec.structs.replace(seen(pool(), waits), trouble=growth)
    story = msgspec.structs.replace(explain_pod.explained_pod(waits, view), growth=growth)
    return {
        "status": next(iter(status.overview_lines(overview(watched_in(view), NOW)))),
        "explain": next(iter(told_story(story, NOW, view.names))),
        "cost": next(iter(cost.spending_lines(spending(view)))),
        "top": next(iter(bars.fleet_lines(fleet_bars(view), NOW))),
    }


def test_every_command_begins_with_it_and_says_nothing_when_all_is_well() -> None:
    assert set(first_lines(NO_LEADER).values()) == {LINE}
    assert not any("growth itself" in line for line in first_lines(None).values())


def test_a_pod_that_waits_while_no_reconciler_leads_is_promised_no_plan() -> None:
    waits = msgspec.structs.replace(seen(waiting("web-0"), pool()), trouble=NO_LEADER)
    facts = {
        fact.topic: fact.text for fact in explain_pod.explained_pod(waiting("web-0"), waits).facts
    }
    assert facts["last plan"] == "none: no reconciler leads; nothing is planned"


@pytest.mark.parametrize(
    ("growth", "is_well"),
    [(None, True), (NO_LEADER, False), (WEBHOOKS_AWAY, False), (PAUSED, True)],
)
def test_a_person_is_needed_for_anything_but_a_pause(
    growth: Trouble | None, *, is_well: bool
) -> None:
    assert overview(WatchedCluster(trouble=growth), NOW).is_well is is_well


def test_a_watch_tells_when_it_begins_and_when_it_is_over() -> None:
    broken, well = WatchedCluster(trouble=NO_LEADER), WatchedCluster()
    lines = [
        [(each.kind, each.text) for each in happenings(*looks, NOW)]
        for looks in ((well, broken), (broken, broken), (broken, well))
    ]
    assert lines == [[("Growth", NO_LEADER.text)], [], [("Growth", "works again")]]


def looked(*looks: WatchedCluster, seconds: float = 1.0) -> Settling:
    """What so many looks come to, one a second."""
    return reduce(lambda before, each: before.after(each, seconds=seconds), looks, Settling())


COMES = request("default-1", "Pending")


@pytest.mark.parametrize("growth", [NO_LEADER, PAUSED])
def test_waiting_for_the_end_ends_with_the_reason_when_growth_stands_still(growth: Trouble) -> None:
    still = WatchedCluster(requests=(COMES,), trouble=growth)
    looks = int(STANDSTILL)
    assert not looked(*[still] * (looks - 1)).is_over
    with pytest.raises(GiveUp, match=growth.text):
        looked(*[still] * looks)


def test_a_leader_that_comes_back_in_time_is_waited_for() -> None:
    still = [WatchedCluster(requests=(COMES,), trouble=NO_LEADER)] * (int(STANDSTILL) - 1)
    moves = WatchedCluster(requests=(COMES,))
    assert not looked(*still, moves, *still).is_over


def test_a_webhook_that_is_away_keeps_nothing_from_settling() -> None:
    looks = [WatchedCluster(requests=(COMES,), trouble=WEBHOOKS_AWAY)] * 99
    assert not looked(*looks).is_over


def test_where_nothing_is_to_be_done_it_is_settled_whoever_leads() -> None:
    assert looked(*[WatchedCluster(trouble=NO_LEADER)] * 5).is_over


# What is asked of the API server


def asked(cluster: Cluster) -> str:
    found = asyncio.run(trouble_of(Lists(connection(cluster))))
    return found.text if found else ""


def test_an_installation_that_is_well_has_no_trouble() -> None:
    assert asked(installed()) == ""


def test_leases_are_judged_by_the_clock_of_the_api_server() -> None:
    cluster = installed()
    cluster.skew = timedelta(minutes=5)
    assert asked(cluster) == NO_LEADER.text
    lead(cluster, seconds_ago=-300)
    assert asked(cluster) == ""


def test_a_rule_that_was_about_to_be_broken_is_told() -> None:
    cluster = installed()
    lead(cluster, annotations={WRITING_STOPPED_ANNOTATION: RULE})
    assert asked(cluster).endswith(RULE)


def test_what_is_put_aside_is_told() -> None:
    cluster = installed()
    lead(cluster, annotations={PUT_ASIDE_ANNOTATION: "machine a: OverflowError in x:3 (planning)"})
    assert asked(cluster).endswith("machine a: OverflowError in x:3 (planning)")


def test_a_pause_of_all_is_read_where_the_lease_is() -> None:
    cluster = installed()
    until = write_time(cluster.now.replace(microsecond=0) + timedelta(minutes=5))
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/growth-pause"
    cluster.put(path, {"metadata": {"name": "growth-pause"}, "data": {"until": until}})
    assert asked(cluster) == f"all pools are paused until {until}"


def test_a_webhook_without_a_ready_pod_is_told() -> None:
    cluster = installed()
    cluster.edit(f"{APPS}/deployments/growth-webhooks", "status")["readyReplicas"] = 0
    assert asked(cluster).startswith("no pod of growth-webhooks is ready")


def test_what_may_not_be_read_is_not_told() -> None:
    cluster = installed()
    lead(cluster, seconds_ago=60)
    cluster.forbidden = {"leases"}
    assert asked(cluster) == ""


class Slow(Cluster):
    """An API server that leaves some questions without an answer."""

    def __init__(self, *silent: str) -> None:
        super().__init__(**vars(installed()))
        self.silent = silent
        self.open = self.most_open = 0
        """Questions at one moment."""

    @override
    async def request(self, method: str, path: str, **words: Any) -> Response:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(0)
        self.open -= 1
        if self.silent and path.endswith(self.silent):
            raise Unreachable("no answer within 4 s")
        if path.endswith("requests"):
            return Response(200, {}, b'{"metadata": {}, "items": []}')
        return await super().request(method, path, **words)


def test_a_question_that_is_not_answered_in_time_ends_no_command() -> None:
    assert asked(Slow("/leases")) == ""
    cluster = Slow("/growth-pause", "/daemonsets")
    assert asked(cluster) == ""
    cluster.edit(f"{APPS}/deployments/growth-webhooks", "status")["readyReplicas"] = 0
    assert asked(cluster).startswith("no pod of growth-webhooks is ready")


@pytest.mark.parametrize("silent", ["/leases", "/growth-pause"])
def test_a_watch_takes_no_silence_for_the_end_of_what_is_wrong(silent: str) -> None:
    broken = WatchedCluster(trouble=NO_LEADER)
    seen_next = asyncio.run(watched(Lists(connection(Slow(silent))), broken))
    assert seen_next.trouble == NO_LEADER
    assert asyncio.run(watched(Lists(connection(Slow())), broken)).trouble is None


def test_what_lies_beside_the_leases_is_asked_for_at_once() -> None:
    cluster = Slow()
    lead(cluster, "other")
    asked(cluster)
    assert cluster.most_open == 6


# The commands


@pytest.mark.cluster
def test_with_an_empty_lease_commands_say_that_no_reconciler_leads(
    alone: LiveCluster, namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"t-{namespace}"
    spec = {"containers": [{"name": "main", "image": "none"}], "nodeSelector": {POOL_LABEL: name}}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"web-{number}"}, "spec": spec}
        for number in range(20)
    ]
    empty = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "growth-reconciler"},
    }
    alone.create(empty, *pods, namespace=namespace)
    alone.create(pool_of(name))

    def said(*words: str) -> tuple[int, str]:
        code = main([*words, "--kubeconfig", str(alone.kubeconfig)])
        return code, capsys.readouterr().out

    try:
        wait_until(lambda: "20 pods" in said("status")[1], "the scheduler has seen all")
        code, told = said("status")
        assert (code, told.splitlines()[0]) == (1, LINE)
        for words in (("cost",), ("top",), ("explain", "pool", name)):
            assert said(*words)[1].splitlines()[0] == LINE
        code, told = said("explain", "pod", f"{namespace}/web-0", "-o", "json")
        story = json.loads(told)
        assert story["growth"]["reason"] == "NobodyLeads"
        assert {"topic": "last plan", "text": f"none: {NO_LEADER.text}"} in story["facts"]
    finally:
        alone.kubectl("delete", "nodepool", name, "--wait=false")
        alone.kubectl("delete", "lease", "growth-reconciler", "--namespace", namespace)
        alone.kubectl("delete", "pods", "--all", "--namespace", namespace, "--wait=false")
