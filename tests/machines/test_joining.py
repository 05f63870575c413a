"""What growth tells servers to do, done by a real kubelet, kubeadm and systemd."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.hetzner.fake.records import Network
from tests.live import wait_until
from tests.machines.sites import BOOTED_WITHIN

if TYPE_CHECKING:
    from tests.machines.sites import MachineSite

pytestmark = [pytest.mark.cluster, pytest.mark.long]
CLUSTER, STORAGE = 41, 42
"""IDs of networks; a project has the first one."""
SLOW = "etc/systemd/system/containerd.service.d/slow.conf"
METADATA = "http://169.254.169.254/hetzner/v1/userdata"


def test_a_node_is_what_was_planned(place: MachineSite) -> None:
    taint = {"key": "team", "value": "shop", "effect": "NoExecute"}
    place.makes_pool(
        "planned", pool={"labels": {"team": "shop"}, "taints": [taint]}, networks=["cluster"]
    )
    place.runs("web", pool="planned", tolerations=[{"key": "team", "operator": "Exists"}])

    place.is_running("web")

    machine = place.only_machine()
    node = place.node(machine.name)
    labels, addresses = node["metadata"]["labels"], node["status"]["addresses"]
    assert node["spec"]["providerID"] == f"hcloud://{machine.id}"
    assert {"type": "InternalIP", "address": machine.private[CLUSTER]} in addresses
    assert [each for each in node["spec"]["taints"] if each["key"] == "team"] == [taint]
    assert labels["kubernetes.io/hostname"] == machine.name
    assert labels["node.kubernetes.io/instance-type"] == "cx23"
    assert labels["topology.kubernetes.io/region"] == place.server_of(machine).body["location"]
    assert (labels["team"], labels["growth.dev/pool"]) == ("shop", "planned")
    unregistered = [it for it in node["spec"]["taints"] if it["key"].startswith("growth.dev/")]
    assert unregistered == []


def test_a_server_waits_for_its_private_address(place: MachineSite) -> None:
    place.datacentre.plugs_private_network = False
    place.makes_pool("late", networks=["cluster"])
    place.runs("web", pool="late")
    wait_until(place.machines, "a server is on", within=BOOTED_WITHIN)
    machine = place.only_machine()
    wait_until(lambda: place.runs_process(machine, "growth/prepare"), "it asks for its address")
    assert place.own_nodes() == []

    place.datacentre.plugs_private_network = True

    place.is_running("web")
    addresses = place.node(machine.name)["status"]["addresses"]
    assert {"type": "InternalIP", "address": machine.private[CLUSTER]} in addresses


def test_a_node_has_its_address_in_the_first_of_two_networks(place: MachineSite) -> None:
    place.site.project.networks.append(Network(id=STORAGE, name="storage"))
    place.makes_pool("dual", networks=["cluster", "storage"])
    place.runs("web", pool="dual")

    place.is_running("web")

    machine = place.only_machine()
    assert set(machine.private) == {CLUSTER, STORAGE}
    addresses = place.node(machine.name)["status"]["addresses"]
    assert {"type": "InternalIP", "address": machine.private[CLUSTER]} in addresses
    assert machine.private[STORAGE] not in {each["address"] for each in addresses}


def test_a_server_whose_containerd_starts_slowly_joins_late(place: MachineSite) -> None:
    slowly = "[Service]\nExecStartPre=/bin/sleep 20\n"
    place.datacentre.disk_changes = {SLOW: slowly}
    place.makes_pool("slow")
    place.runs("web", pool="slow")

    place.is_running("web")


def test_what_a_type_really_has_is_learnt_from_the_kubelet_of_its_first_node(
    place: MachineSite,
) -> None:
    place.datacentre.memory_found = 0.8
    story = place.makes_pool("learns", "cx23", "cx33")
    place.runs("first", pool="learns")
    place.is_running("first")
    story.says("nodepool", ".status.learntAllocatable[*].serverType", "cx23")

    # Of the 4 GiB that are sold, a server should have 3.7 and has 3.2.
    place.runs("second", pool="learns", requests={"cpu": "1100m", "memory": "3400Mi"})

    place.is_running("second")
    assert story.types() == ["cx23", "cx33"]


def test_two_servers_boot_at_once(place: MachineSite) -> None:
    place.makes_pool("twins", networks=["cluster"])
    place.runs("one", pool="twins")
    place.runs("two", pool="twins")

    place.is_running("one", "two")

    assert len(place.machines()) == 2
    assert sorted(place.own_nodes()) == sorted(each.name for each in place.machines())


def test_pods_cannot_read_user_data_even_after_networkd_and_the_server_were_restarted(
    place: MachineSite,
) -> None:
    place.makes_pool("closed")
    asks = (
        f"while true; do wget -qO /dev/null {METADATA} && echo open || echo closed; sleep 1; done"
    )
    place.runs("pod", pool="closed", command=asks)
    place.runs("host", pool="closed", command=asks, hostNetwork=True, requests={"cpu": "10m"})
    place.is_running("pod", "host")
    machine = place.only_machine()
    place.says(machine, "host", "open")
    place.says(machine, "pod", "closed")

    managed = "/etc/systemd/network/eth0.network"
    unit = "[Match]\\nName=eth0\\n[Network]\\nKeepConfiguration=yes\\n"
    place.hall.run(machine.name, f"printf '{unit}' > {managed}")
    place.hall.run(machine.name, "systemctl restart systemd-networkd")
    place.hall.run(machine.name, "systemctl restart growth-close-metadata")
    place.says(machine, "pod", "closed")

    place.hall.ask("reboot", name=machine.name)
    place.is_running("pod", "host")
    place.says(machine, "pod", "closed")
    place.says(machine, "host", "open")
    assert "open" not in place.pod_log(machine, "pod")


def test_a_node_is_ready_again_after_a_reboot(place: MachineSite) -> None:
    place.makes_pool("reboots")
    place.runs("web", pool="reboots")
    place.is_running("web")
    machine = place.only_machine()

    place.hall.ask("reboot", name=machine.name)

    wait_until(lambda: place.restarts("web") > 0, "the pod runs again", within=BOOTED_WITHIN)
    place.is_running("web")
    assert place.only_machine() == machine


def test_a_pod_has_its_time_to_end_before_its_server_is_given_back(place: MachineSite) -> None:
    place.makes_pool("grace")
    ends = "trap 'sleep 15; exit 0' TERM; while true; do sleep 0.1; done"
    place.runs("slow", pool="grace", command=ends, terminationGracePeriodSeconds=30)
    place.is_running("slow")
    machine = place.only_machine()
    place.cluster.kubectl("delete", "nodepool", "grace", "--wait=false")
    wait_until(lambda: place.is_ending("slow"), "it is told to end")
    began = time.monotonic()

    while True:
        is_on = machine in place.machines()
        if not place.phase("slow"):
            break
        assert is_on

    assert time.monotonic() - began > 5
    wait_until(lambda: not place.machines(), "the server is gone", within=BOOTED_WITHIN)
