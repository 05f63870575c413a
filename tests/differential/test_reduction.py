from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.cases import Case
from tests.differential.reduction import reduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.cases import Manifest


def pod_with(spec: Manifest) -> Manifest:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p-~"}, "spec": spec}


async def test_a_case_is_cut_down_to_what_makes_it_differ() -> None:
    noise = [pod_with({"nodeName": f"n{index}-~"}) for index in range(5)]
    needed = pod_with({"nodeName": "n5-~", "volumes": [{"name": "a"}, {"name": "b"}]})
    offered = pod_with({"tolerations": [{"key": "a", "value": "1"}], "priority": 3})
    case = Case(("taints",), (*noise, needed), offered)

    async def differ(cases: Sequence[Case]) -> list[bool]:
        return ["'name': 'b'" in str(each.objects) and "'1'" in str(each.pod) for each in cases]

    smallest = await reduced(case, differ)

    assert smallest.objects == (pod_with({"nodeName": "n5-~", "volumes": [{"name": "b"}]}),)
    assert smallest.pod == pod_with({"tolerations": [{"value": "1"}]})


async def test_a_case_of_which_nothing_can_go_stays_as_it_is() -> None:
    case = Case(("taints",), (), pod_with({"priority": 1}))

    async def differ(cases: Sequence[Case]) -> list[bool]:
        return [each == case for each in cases]

    assert await reduced(case, differ) == case
