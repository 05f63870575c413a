from __future__ import annotations

import socket

import pytest

from growth.errors import Misconfigured
from kwok import ports
from kwok.ports import USES, choose_ports


def test_every_use_has_a_port_of_its_own() -> None:
    chosen = choose_ports(())
    assert tuple(chosen) == USES
    assert len(set(chosen.values())) == len(USES)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A machine with one port more than there are uses."""
    beyond = ports.LOWEST + len(USES) + 1
    monkeypatch.setattr(ports, "BEYOND", beyond)
    return list(range(ports.LOWEST, beyond))


def test_a_port_of_another_cluster_is_left_out(few: list[int]) -> None:
    assert set(choose_ports({few[3]}).values()) == {*few} - {few[3]}


def test_a_port_on_which_someone_listens_is_left_out(few: list[int]) -> None:
    with socket.create_server(("127.0.0.1", few[5])):
        assert few[5] not in choose_ports(()).values()


def test_too_few_ports_are_one_line(few: list[int]) -> None:
    with pytest.raises(Misconfigured, match="no free ports"):
        choose_ports(few[:2])
