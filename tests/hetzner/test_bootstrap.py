"""What servers are started with: whole, in its golden form, and refused where it can't work."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml

from growth.api.hetznernodeclass import BootstrapKind
from growth.api.joining import GROUP, JoinApproval, token_id
from growth.errors import Misconfigured
from reconciler.providers.hetzner.bootstrap import tokens
from reconciler.providers.hetzner.bootstrap.joining import may_be_set_by_kubelet
from reconciler.providers.hetzner.bootstrap.rendering import LARGEST, needs_token, user_data
from tests.hetzner.booting import started, stopped, unit_of
from tests.hetzner.build import CA_HASH, JOIN_TOKEN, K3S, KUBEADM, TALOS, joining
from tests.hetzner.golden import CASES, FOLDER

if TYPE_CHECKING:
    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

NEEDED = "$(growth.nodeName) $(growth.nodeLabels) $(growth.nodeTaints)"
FROM_SECRET = {"kind": "Custom", "templateSecretRef": TALOS["templateSecretRef"]}


def custom(template: str) -> JoiningServer:
    """User data from a Secret, which no class could check beforehand."""
    return joining(FROM_SECRET, template=template)


def script_of(joining: JoiningServer) -> str:
    document = yaml.safe_load(user_data(joining))
    return str(document["runcmd"][0][2])


@pytest.mark.parametrize("name", CASES)
def test_user_data_is_as_it_was(name: str) -> None:
    assert user_data(CASES[name]) == (FOLDER / name).read_text("utf-8")


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("talos")])
def test_the_shell_can_read_what_it_is_given(name: str) -> None:
    shell = shutil.which("sh")
    assert shell is not None
    scripts = [user_data(CASES[name])]
    if name.endswith(".yaml"):
        document = yaml.safe_load(scripts[0])
        files = [file["content"] for file in document["write_files"]]
        scripts = [document["runcmd"][0][2], *(each for each in files if each.startswith("#!"))]
    for script in scripts:
        checked = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True)  # noqa: PLW1510 - looked at
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("bootstrap", [K3S, KUBEADM, TALOS], ids=lambda each: each["kind"])
def test_every_kind_names_labels_and_taints_its_node(bootstrap: dict[str, Any]) -> None:
    rendered = user_data(joining(bootstrap, template="machine: {}"))

    for needed in ("default-1", "growth.dev/unregistered", "growth.dev/pool", "team"):
        assert needed in rendered


def test_labels_that_others_set_are_left_to_them() -> None:
    labels = joining(K3S).labels
    own = joining({**K3S, "cloudProvider": "None"}).labels

    assert not any("kubernetes.io" in key or "hetzner.cloud" in key for key in labels)
    assert own["topology.kubernetes.io/zone"] == "nbg1-dc3"
    assert "node-role.kubernetes.io/worker" not in own


@pytest.mark.parametrize(
    ("label", "allowed"),
    [
        ("team", True),
        ("example.org/team", True),
        ("notkubernetes.io/team", True),
        ("node.kubernetes.io/instance-type", True),
        ("topology.kubernetes.io/zone", True),
        ("kubernetes.io/role", False),
        ("node-role.kubernetes.io/worker", False),
        ("node-restriction.kubernetes.io/team", False),
        ("topology.kubernetes.io/rack", False),
        ("x.k8s.io/y", False),
    ],
)
def test_a_kubelet_only_starts_with_labels_that_it_may_set(label: str, allowed: bool) -> None:  # noqa: FBT001 - a column of the table
    assert may_be_set_by_kubelet(label) is allowed


def test_pods_can_not_read_the_metadata_address_from_before_the_node_joins() -> None:
    script = script_of(joining(K3S))

    closing, joins = script.index("growth-close-metadata"), script.index("k3s-agent")
    assert closing < joins
    assert "growth-close-metadata" not in user_data(joining({**K3S, "metadataAccess": "Open"}))


SERVER = """\
set -e
echo 1 > /proc/sys/net/ipv4/ip_forward
ip link add wan type veth peer name hetzner
ip link set wan up
ip link set hetzner up
ip address add 172.31.0.2/16 dev wan
ip route add default via 172.31.1.1
ip link add cni0 type bridge
ip link set cni0 up
ip address add 10.42.0.1/24 dev cni0
"""
"""What a server has, in a network of its own: a way out, and a bridge that its pods are behind."""


@pytest.mark.parametrize("bootstrap", [K3S, KUBEADM], ids=lambda each: each["kind"])
@pytest.mark.parametrize(
    ("who", "where", "reaches"),
    [
        ("", "169.254.169.254", True),
        ("from 10.42.0.5 iif cni0", "169.254.169.254", False),
        ("from 10.42.0.5 iif cni0", "1.1.1.1", True),
    ],
    ids=["the host", "a pod", "a pod elsewhere"],
)
def test_the_kernel_keeps_pods_from_the_metadata_address(
    bootstrap: dict[str, Any],
    who: str,
    where: str,
    reaches: bool,  # noqa: FBT001 - a column of the table
) -> None:
    unit = unit_of(joining(bootstrap))
    if in_a_network_of_its_own(SERVER) != 0:
        pytest.skip("this machine lets nobody make a network namespace (unshare, ip)")

    asked = f"ip route get {where} {who}"

    assert in_a_network_of_its_own(f"{SERVER}{asked}") == 0
    told = in_a_network_of_its_own("\n".join([SERVER, started(unit), asked]))
    assert (told == 0) is reaches
    restarted = [SERVER, started(unit), stopped(unit), started(unit), asked]
    assert (in_a_network_of_its_own("\n".join(restarted)) == 0) is reaches


def in_a_network_of_its_own(script: str) -> int:
    """What the shell ends with, as root of nothing but a network that is gone afterwards."""
    unshare = shutil.which("unshare")
    if unshare is None or shutil.which("ip") is None:
        return 127
    command = [unshare, "--map-root-user", "--net", "sh", "-c", script]
    return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    ("rendered", "text"),
    [
        (custom(f"{NEEDED} $(growth.nodename)"), "$(growth.nodename), which nothing fills in"),
        (custom("$(growth.nodeName) $(growth.nodeLabels)"), "lacks $(growth.nodeTaints)"),
        (custom(f"{NEEDED} $(growth.caHash)"), "uses caHash, which the class doesn't set"),
        (custom(f"{NEEDED} {'x' * LARGEST}"), "bytes, and Hetzner's maximum is 32768"),
        (joining(TALOS, template="cluster: {}"), "the Secret has no document with `machine`"),
        (joining(TALOS, template="{secret: [abc"), "isn't YAML"),
        (joining(TALOS, template="secret"), "isn't YAML"),
        (joining(TALOS, template="secret: " + "9" * 5000), "isn't YAML"),
        (joining(TALOS, template="secret: " + "[" * 100_000), "isn't YAML"),
    ],
    ids=(
        *("unknown", "missing", "unset", "too long", "no machine", "no YAML", "no document"),
        *("a number without end", "brackets without end"),
    ),
)
def test_user_data_that_could_not_work_is_refused(rendered: JoiningServer, text: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        user_data(rendered)

    assert text in str(refused.value)
    assert "secret" not in str(refused.value)


def test_what_the_shell_writes_with_dollars_is_left_alone() -> None:
    template = f"echo $HOME ${{HOME}} $(date) $(growth) {NEEDED}"

    assert user_data(custom(template)).startswith("echo $HOME ${HOME} $(date) $(growth) default-1")


@pytest.mark.parametrize(
    ("kind", "template", "needed"),
    [
        (BootstrapKind.K3S, "", True),
        (BootstrapKind.KUBEADM, "", True),
        (BootstrapKind.TALOS, "machine: {}", False),
        (BootstrapKind.CUSTOM, NEEDED, False),
        (BootstrapKind.CUSTOM, f"{NEEDED} $(growth.token)", True),
    ],
)
def test_a_token_is_minted_only_for_what_uses_it(
    kind: BootstrapKind,
    template: str,
    needed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    assert needs_token(kind, template) is needed


def test_a_token_is_found_again_by_its_request_and_guessed_by_nobody() -> None:
    letters = itertools.cycle("abcdefgh01234567")
    token = tokens.minted("uid-1", choose=lambda _: next(letters))

    assert token.id == token_id("uid-1") != token_id("uid-2")
    assert token.text == f"{token.id}.abcdefgh01234567"
    assert token.secret not in repr(token)


def test_a_token_is_a_secret_that_ends_by_itself_and_with_its_request() -> None:
    token = tokens.JoinToken(id="a1b2c3", secret="d4e5f6a7b8c9d0e1")
    end = datetime(2026, 1, 1, 12, 10, tzinfo=UTC)

    secret = tokens.token_secret(
        token,
        request_name="default-1",
        request_uid="uid-1",
        kind=BootstrapKind.KUBEADM,
        expires_at=end,
    )

    assert secret["type"] == "bootstrap.kubernetes.io/token"
    assert secret["metadata"]["name"] == "bootstrap-token-a1b2c3"
    assert secret["metadata"]["ownerReferences"][0]["uid"] == "uid-1"
    assert secret["stringData"]["expiration"] == "2026-01-01T12:10:00Z"
    assert secret["stringData"]["auth-extra-groups"].startswith("system:bootstrappers:kubeadm:")


@pytest.mark.parametrize(
    ("kind", "approval", "group"),
    [
        (BootstrapKind.KUBEADM, JoinApproval.CLUSTER, "system:bootstrappers:kubeadm:"),
        (BootstrapKind.KUBEADM, JoinApproval.GROWTH, GROUP),
        (BootstrapKind.K3S, JoinApproval.GROWTH, "system:bootstrappers:k3s:"),
        (BootstrapKind.CUSTOM, JoinApproval.GROWTH, ""),
    ],
)
def test_only_where_growth_approves_a_token_of_kubeadm_is_in_growths_group(
    kind: BootstrapKind, approval: JoinApproval, group: str
) -> None:
    found = tokens.group_of(kind, approval)

    assert found.startswith(group)
    assert bool(found) is bool(group)


@pytest.mark.parametrize(
    ("token", "written"),
    [
        (JOIN_TOKEN, f"K10{'5e' * 32}::{JOIN_TOKEN}"),
        ("K10abc::server:one-for-all", "K10abc::server:one-for-all"),
    ],
    ids=["minted", "of one's own"],
)
def test_an_agent_knows_its_server_by_the_hash_in_its_token(token: str, written: str) -> None:
    known = joining({**K3S, "caHash": CA_HASH})

    rendered = user_data(msgspec.structs.replace(known, token=token))

    assert f"token: {written}\n" in rendered


def test_what_prints_a_joining_server_prints_no_secret() -> None:
    assert JOIN_TOKEN not in f"{joining(K3S)!r} {joining(K3S)}"
