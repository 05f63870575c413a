from __future__ import annotations

import socket
from pathlib import Path

import pytest

from growth.errors import Misconfigured
from kwok import ports
from kwok.clusters import LocalCluster
from kwok.ports import USES, choose_ports, free_port


def test_every_use_has_a_port_of_its_own() -> None:
    chosen = choose_ports()
    assert tuple(chosen) == USES
    assert len(set(chosen.values())) == len(USES)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A machine without clusters and with one port more than there are uses."""
    # Neither clusters nor outgoing connections get one of these, so nothing else takes them.
    lowest = 32400
    beyond = lowest + len(USES) + 1
    monkeypatch.setattr(ports, "LOWEST", lowest)
    monkeypatch.setattr(ports, "BEYOND", beyond)
    monkeypatch.setattr(ports, "all_clusters", list)
    return list(range(lowest, beyond))


def promise(monkeypatch: pytest.MonkeyPatch, *promised: int) -> None:
    """Another cluster has these ports, and doesn't listen there yet."""
    others = dict(zip(USES, promised, strict=False))
    monkeypatch.setattr(
        ports, "all_clusters", lambda: [LocalCluster("other", Path(), ports=others)]
    )


def test_a_port_of_another_cluster_is_left_out(
    few: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    promise(monkeypatch, few[3])

    assert set(choose_ports().values()) == {*few} - {few[3]}


def test_a_program_beside_clusters_takes_no_port_of_theirs(
    few: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    promise(monkeypatch, *few[:-2])

    assert {free_port() for _ in range(20)} <= {*few[-2:]}


def test_a_port_on_which_someone_listens_is_left_out(few: list[int]) -> None:
    with socket.create_server(("127.0.0.1", few[5])):
        assert few[5] not in choose_ports().values()


def test_too_few_ports_are_one_line(few: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    promise(monkeypatch, *few[:2])

    with pytest.raises(Misconfigured, match="no free ports"):
        choose_ports()
