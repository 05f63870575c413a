"""A repository of Kubernetes' packages, as servers find it at pkgs.k8s.io.

The packages are made of the image's programs, with the files, the conffile and the dependencies
that Kubernetes' own have. The repository is signed, and served under a certificate of its own, so a
server does all that it does with the real one.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import ssl
import subprocess
import threading
from email.utils import formatdate
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

from cryptography import x509
from typing_extensions import override

from kwok.store import ARCHITECTURE
from tests.machines.places import PACKAGES_ADDRESS
from tests.service.authority import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.machines.keeping import KeptHall

HOST: Final = "pkgs.k8s.io"
TOOLS: Final = ("dpkg-deb", "gpg")
KUBELET: Final = "usr/bin/kubelet"
KUBEADM: Final = "usr/bin/kubeadm"
UNIT: Final = "usr/lib/systemd/system/kubelet.service"
DROP_IN: Final = f"{UNIT}.d/10-kubeadm.conf"
BUNDLE: Final = "etc/ssl/certs/ca-certificates.crt"
CONFFILE: Final = "etc/default/kubelet"
_POSTINST: Final = """\
#!/bin/sh
set -e
systemctl daemon-reload
systemctl enable kubelet.service
"""
_CONTAINERD: Final = """\
#!/bin/sh
# What the image's own configuration says, because a server in namespaces needs it.
/usr/bin/containerd "$@" | sed \\
  -e 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' \\
  -e 's|sandbox_image = .*|sandbox_image = "growth.test/tiny:1"|'
"""


class PackageRepository:
    """A folder, and who vouches for it."""

    def __init__(self, folder: Path, image: Path, *, version: str) -> None:
        self._folder = folder
        self._image = image
        self._version = version
        self._authority = Authority()
        minor = ".".join(version.split(".")[:2])
        self._served = folder / f"served/core:/stable:/v{minor}/deb"
        self._served.mkdir(parents=True)

    def on_servers(self) -> dict[str, str | None]:
        """The disk of a server without Kubernetes, which knows the repository."""
        absent = (
            *(KUBELET, KUBEADM, UNIT, DROP_IN),
            "etc/systemd/system/multi-user.target.wants/kubelet.service",
        )
        return {
            **dict.fromkeys(absent),
            "etc/hosts": f"127.0.0.1 localhost\n{PACKAGES_ADDRESS} {HOST}\n",
            BUNDLE: self._authority.certificate.decode(),
            # By itself apt looks for a file for each authority.
            "etc/apt/apt.conf.d/90authority": f'Acquire::https::CAInfo "/{BUNDLE}";\n',
            "usr/local/sbin/containerd": _CONTAINERD,
        }

    def make(self) -> None:
        """Make the packages and their index, and sign it."""
        # Programs and plugins are where the packages have them, not where the image has them.
        self._package("kubelet", {KUBELET: KUBELET, UNIT: UNIT}, needs="kubernetes-cni")
        self._package("kubeadm", {KUBEADM: KUBEADM, DROP_IN: DROP_IN}, needs="kubelet")
        self._package("kubernetes-cni", {"opt/cni/bin": "usr/lib/cni"}, needs="iptables")
        (self._served / "Packages").write_text("\n".join(map(self._entry, self._archives())))
        self._sign()

    def _archives(self) -> list[Path]:
        return sorted(self._served.glob("*.deb"))

    def _package(self, name: str, files: Mapping[str, str], *, needs: str) -> None:
        tree = self._folder / name
        control = tree / "DEBIAN"
        control.mkdir(parents=True)
        for target, source in files.items():
            _copy(self._image / source, tree / target)
        control.joinpath("control").write_text(
            f"Package: {name}\nVersion: {self._version}-1.1\nArchitecture: {ARCHITECTURE}\n"
            f"Maintainer: Nobody <nobody@growth.test>\nDepends: {needs}\n"
            f"Description: a stand-in for {name}\n"
        )
        if name == "kubelet":
            _write(tree / CONFFILE, "KUBELET_EXTRA_ARGS=\n")
            control.joinpath("conffiles").write_text(f"/{CONFFILE}\n")
            _write(control / "postinst", _POSTINST, mode=0o755)
        archive = self._served / f"{name}.deb"
        # Compressing the kubelet would take half a minute.
        _run("dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(archive))
        shutil.rmtree(tree)

    def _entry(self, archive: Path) -> str:
        told = subprocess.run(
            ["dpkg-deb", "--field", str(archive)], capture_output=True, text=True, check=True
        ).stdout
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        size = archive.stat().st_size
        return f"{told}Filename: {archive.name}\nSize: {size}\nSHA256: {digest}\n"

    def _sign(self) -> None:
        index = self._served / "Packages"
        digest = hashlib.sha256(index.read_bytes()).hexdigest()
        release = self._folder / "Release"
        release.write_text(
            f"Origin: growth\nDate: {formatdate(usegmt=True)}\n"
            f"SHA256:\n {digest} {index.stat().st_size} {index.name}\n"
        )
        home = self._folder / "keys"
        home.mkdir(mode=0o700)
        gpg = ("gpg", "--homedir", str(home), "--batch", "--quiet", "--passphrase", "")
        _run(*gpg, "--quick-generate-key", "growth@growth.test", "rsa3072", "sign")
        signed = ("--output", str(self._served / "InRelease"), "--clearsign", str(release))
        _run(*gpg, "--pinentry-mode", "loopback", *signed)
        _run(*gpg, "--armor", "--output", str(self._served / "Release.key"), "--export")
        _run("gpgconf", "--homedir", str(home), "--kill", "all")

    @contextlib.contextmanager
    def served_in(self, hall: KeptHall) -> Iterator[None]:
        """Serve it to the servers of a hall."""
        names = x509.SubjectAlternativeName([x509.DNSName(HOST)])
        self._authority.leaf(HOST, names=names).write_to(self._folder / "tls")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._folder / "tls/tls.crt", self._folder / "tls/tls.key")
        handler = partial(_Quietly, directory=str(self._folder / "served"))
        server = ThreadingHTTPServer((HOST, 443), handler, bind_and_activate=False)
        server.socket.close()
        listener = hall.listen(PACKAGES_ADDRESS, 443)
        server.socket = context.wrap_socket(
            listener, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Quietly(SimpleHTTPRequestHandler):
    # Connections stay open: the end of one without TLS' own farewell is an error to apt.
    protocol_version = "HTTP/1.1"

    @override
    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def _write(path: Path, content: str, *, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}"
