"""`growth certs` on a real cluster, as a person uses it."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest
from cryptography import x509

from growth.cli.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.live import LiveCluster

    Certs = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.cluster


@pytest.fixture
def certs(
    cluster: LiveCluster, namespace: str, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command in a namespace of its own: exit code, output, complaints."""

    def run(*words: str) -> tuple[int, str, str]:
        where = ("--kubeconfig", str(cluster.kubeconfig), "-n", namespace)
        code = main(["certs", *words, *where])
        return code, *capsys.readouterr()

    return run


def test_certificates_are_made_shown_rotated_and_exported(
    certs: Certs, cluster: LiveCluster, namespace: str, tmp_path: Path
) -> None:
    code, shown, _ = certs("show")
    assert code == 1
    assert " bad  growth-ca " in shown
    assert "doesn't exist yet" in shown
    assert shown.endswith(
        f"hint: no certificates in namespace {namespace}; use -n for another namespace\n"
    )

    code, done, _ = certs("run-once")
    assert code == 0
    assert "issue      secret/growth-webhooks-tls\n" in done
    assert certs("run-once")[:2] == (0, "nothing to do\n")

    code, shown, _ = certs("show")
    assert code == 0
    assert "the API server calls the webhooks" in shown
    assert "renewed in 59 d" in shown
    rows = json.loads(certs("show", "-o", "json")[1])
    assert all(row["good"] for row in rows)

    code, told, _ = certs("rotate")
    assert code == 0
    assert "signs after 1 h" in told
    certs("run-once")
    assert "the next one signs at " in certs("show")[1]
    code, _, complaint = certs("rotate")
    assert code == 1
    assert complaint == "Secret growth-ca: a rotation is in progress; see growth certs show\n"

    bundle = certs("export", "growth-ca")[1]
    assert len(x509.load_pem_x509_certificates(bundle.encode())) == 2
    assert "PRIVATE" not in bundle
    certs("export", "growth-webhooks-tls", "--folder", str(tmp_path / "tls"))
    files = {path.name: path for path in (tmp_path / "tls").iterdir()}
    assert files.keys() == {"tls.crt", "tls.key", "ca.crt"}
    assert files["ca.crt"].read_text() == bundle
    assert stat.S_IMODE(files["tls.key"].stat().st_mode) == 0o600
    certs("export", "growth-ca", "--folder", str(tmp_path / "ca"))
    assert [path.name for path in (tmp_path / "ca").iterdir()] == ["ca.crt"]

    label = "app.kubernetes.io/managed-by=somebody"
    secret = ("secret", "growth-extender-tls", "--namespace", namespace)
    cluster.kubectl("label", *secret, label, "--overwrite")
    assert "not managed by growth" in certs("show")[1]
    code, _, complaint = certs("rotate", "growth-extender-tls")
    assert code == 1
    assert "it isn't managed by growth; renew it where it is managed" in complaint


def test_the_schedulers_authority_changes_when_a_person_says_so_twice(certs: Certs) -> None:
    certs("run-once")
    name = "growth-scheduler-ca"

    told = certs("rotate", name)[1]
    assert f"(growth certs export {name}), then: growth certs rotate {name}" in told
    code, done, complaint = certs("run-once")
    assert "introduce  secret/growth-scheduler-ca" in done
    assert code == 0
    assert "the next authority is ready" in complaint
    assert "the next one waits for a request" in certs("show")[1]
    assert certs("export", name)[1].count("BEGIN CERTIFICATE") == 2
    assert "the next CA is trusted first, and signs after 1 h" in certs("rotate", name)[1]


def test_a_mistake_is_one_line(certs: Certs, tmp_path: Path) -> None:
    code, _, complaint = certs("rotate")
    assert code == 1
    assert complaint.startswith("Secret growth-ca: not found; the reconciler or `growth")
    assert complaint.count("\n") == 1
    certs("run-once")
    file = tmp_path / "file"
    file.touch()

    code, _, complaint = certs("export", "growth-ca", "--folder", str(file))

    assert code == 2
    assert complaint == f"{file}: file exists; choose a writable folder\n"
