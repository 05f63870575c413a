from __future__ import annotations

import re

from tests.differential.cases import Isolation, stamped
from tests.differential.generator import generated


def test_the_same_seed_makes_the_same_cases_and_another_seed_others() -> None:
    cases = generated(count=20, number=7, constraints=("taints", "topology-spread"))
    again = generated(count=20, number=7, constraints=("taints", "topology-spread"))
    others = generated(count=20, number=8, constraints=("taints", "topology-spread"))

    assert cases == again
    assert cases != others


def test_every_name_and_topology_key_is_the_case_s_own_when_it_shares_the_stage() -> None:
    for case in generated(count=60, number=3):
        actor = stamped(case, stamp="c1", place=4)
        names = [each["metadata"]["name"] for each in (*actor.objects, actor.pod)]
        assert all("-c1" in name for name in names), names
        keys = re.findall(r"'topologyKey': '([^']+)'", str(actor))
        if case.isolation is Isolation.SEATS:
            assert all(key.startswith("c1.test/") for key in keys), keys
        assert "~" not in str(actor)
        assert "@" not in str(actor)
