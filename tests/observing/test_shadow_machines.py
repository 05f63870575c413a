"""What growth would have bought and given back, while another autoscaler serves the pods."""

from __future__ import annotations

from typing import Any

from reconciler.core.actions import EmitEvent, PatchStatus, SetFinalizers
from reconciler.observing.counting import with_deeds
from reconciler.observing.ledger import ShadowMachine, Tally
from tests.observing.observer import Observer, bound, node_of_others
from tests.reconciler.build import at, node_class, pool, request, waiting

CPU = {"cpu": "1500m"}
HOUR = 3600.0


def observer(*objects: Any, **spec: Any) -> Observer:
    """It has looked once, so that what comes now comes after its beginning."""
    return Observer(pool(**spec), node_class(), *objects).soon()


def test_a_pod_without_a_node_would_buy_one_machine_however_long_it_waits() -> None:
    seen = observer()
    seen.put(waiting(requests=CPU))
    assert seen.soon().types() == ["small"]
    assert len(seen.until(1000).machines()) == 1
    assert sum(each.bought for each in seen.status().hours) == 1


def test_nothing_is_started_but_what_tells() -> None:
    seen = observer()
    seen.put(waiting(requests=CPU))
    seen.until(1000)
    assert seen.done
    assert all(isinstance(each, PatchStatus | EmitEvent | SetFinalizers) for each in seen.done)


def test_a_pod_keeps_its_place_when_another_autoscaler_serves_it() -> None:
    seen, pod, theirs = observer(), waiting(requests=CPU), node_of_others(seconds=130)
    seen.put(pod)
    before = seen.soon().machines()
    seen.put(theirs, bound(pod, theirs))
    assert [each.name for each in seen.until(2000).machines()] == [before[0].name]


def test_pods_that_use_the_room_of_nodes_of_others_need_a_machine_of_growth() -> None:
    seen, theirs = observer(), node_of_others(seconds=130)
    seen.put(theirs, bound(waiting(requests=CPU), theirs))
    assert seen.soon().types() == ["small"]


def test_nodes_that_were_there_before_are_used_by_both() -> None:
    common = node_of_others("before", seconds=-HOUR)
    seen = Observer(pool(), node_class(), common, bound(waiting(requests=CPU), common)).soon()
    assert seen.machines() == []
    seen.put(waiting("web-1", requests={"cpu": "100m"}))
    assert seen.soon().machines() == []


def test_a_machine_without_pods_is_given_back_after_the_wait_of_its_pool() -> None:
    seen, pod = observer(scaleDown={"idleAfter": "60s"}), waiting(requests=CPU)
    seen.put(pod)
    seen.soon()
    seen.remove(pod)
    assert len(seen.until(seen.now + 50).machines()) == 1
    assert seen.until(seen.now + 20).machines() == []
    assert sum(each.given_back for each in seen.status().hours) == 1


def test_a_paid_hour_is_used_to_its_end() -> None:
    seen, pod = observer(scaleDown={"paidHour": "Use"}), waiting(requests=CPU)
    seen.put(pod)
    seen.soon()
    seen.remove(pod)
    assert len(seen.until(3000).machines()) == 1
    assert seen.until(3700).machines() == []


def test_a_minimum_is_bought_and_kept_without_load() -> None:
    types = [{"name": "small", "min": 1, "max": 5}]
    assert observer(serverTypes=types).until(2000).types() == ["small"]


def test_limits_hold_for_machines_that_would_be_bought() -> None:
    seen = observer(limits={"nodes": 1}, serverTypes=[{"name": "small", "max": 5}])
    seen.put(waiting("a", requests=CPU), waiting("b", requests=CPU))
    assert seen.until(300).types() == ["small"]
    assert seen.status().unplaced == 1


def test_both_sides_cost_their_price_for_their_time() -> None:
    seen, pod, theirs = observer(), waiting(requests=CPU), node_of_others(seconds=130, kind="large")
    seen.put(pod)
    seen.soon()
    seen.put(theirs, bound(pod, theirs))
    seen.until(HOUR + 100)
    hours = seen.status().hours
    assert 0.95 < sum(float(each.cost) for each in hours) < 1.0
    assert 2.85 < sum(float(each.node_cost) for each in hours) < 3.0
    assert sum(each.joined for each in hours) == 1


def test_a_node_of_a_type_that_no_catalogue_has_counts_as_unpriced() -> None:
    seen = observer()
    seen.put(node_of_others(seconds=130, kind="m5.large"))
    (hour,) = seen.until(1000).status().hours
    assert hour.node_cost == 0
    assert hour.unpriced_seconds == hour.node_seconds > 0


def test_an_observation_goes_on_after_a_restart() -> None:
    seen = observer()
    seen.put(waiting(requests=CPU))
    before = seen.until(500).status()
    seen.restart()
    after = seen.until(1000).status()
    assert [each.name for each in after.machines] == [each.name for each in before.machines]
    assert after.since == before.since
    assert sum(each.bought for each in after.hours) == 1
    assert sum(each.watched for each in after.hours) > 800


def test_a_pod_that_a_pool_that_acts_may_serve_is_left_to_it() -> None:
    seen = observer()
    seen.put(waiting(requests=CPU, nodeSelector={"growth.dev/pool": "missing"}))
    assert seen.soon().machines() == []


def test_a_tally_stays_bounded() -> None:
    tallies = {"default": Tally(since=at(0).wall)}
    machine = ShadowMachine(request=request(), bought_at=at(0).wall)
    for hour in range(300):
        tallies = dict(with_deeds(tallies, at(hour * HOUR), bought=[machine], given_back=()))
    assert len(tallies["default"].hours) == 192
    assert tallies["default"].hours[-1].at == at(299 * HOUR).wall
