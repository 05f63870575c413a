"""The disk image of servers: Debian's packages, a kubelet, and what a server in namespaces needs.

    python -m tests.machines.image

makes it in the cache, once for each recipe. It takes a minute or two, must be root, and needs
mmdebstrap and the mirror that this machine's own packages come from. The folder `skeleton` is
copied over the packages' files.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from growth.errors import GrowthError, Misconfigured
from kwok.finding import ProgramSearch
from kwok.locks import locked
from kwok.named import named_programs
from kwok.places import cache_folder
from kwok.progress import Progress
from kwok.store import ProgramStore
from kwok.versions import NODE_PROGRAMS, wanted_versions
from tests.machines.archive import TINY, archive_of
from tests.machines.places import machines_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kwok.finding import FoundProgram

RECIPE: Final = 1
"""One more whenever the code below makes something else of the same lists."""
RELEASE: Final = "trixie"
PACKAGES: Final = (
    *("systemd", "systemd-sysv", "dbus", "cloud-init", "curl", "iproute2", "kmod", "procps"),
    *("containerd", "runc", "iptables", "ca-certificates", "containernetworking-plugins"),
    *("netbase", "netcat-openbsd", "busybox-static", "mount", "util-linux"),
)
SKELETON: Final = Path(__file__).with_name("skeleton")
LIBRARY: Final = "usr/local/lib/machine"
ENABLED: Final = ("containerd", "kubelet", "machine-images")
MASKED: Final = (
    *("systemd-udevd", "systemd-udev-trigger", "systemd-modules-load", "systemd-sysctl"),
    *("systemd-timesyncd", "systemd-logind", "systemd-remount-fs", "systemd-firstboot"),
    *("systemd-tmpfiles-setup-dev", "systemd-tmpfiles-setup-dev-early", "systemd-binfmt"),
    *("systemd-networkd-wait-online", "kmod-static-nodes", "getty@", "serial-getty@"),
    *("console-getty", "containerd-import"),
)
"""Services that a server in namespaces can't have, or that would wait for a device."""
MASKED_UNITS: Final = (
    *("dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-debug.mount", "getty.target"),
    *("sys-kernel-tracing.mount", "sys-kernel-config.mount", "sys-fs-fuse-connections.mount"),
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer"),
    *("e2scrub_all.timer", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket"),
    *("systemd-tmpfiles-clean.timer",),
)
_MADE_WITHIN: Final = 3600.0


def image_folder() -> Path:
    """The image of this recipe, whether it exists or not."""
    lists = (RECIPE, RELEASE, PACKAGES, LIBRARY, ENABLED, MASKED, MASKED_UNITS, TINY)
    digest = hashlib.sha256(f"{lists} {wanted_versions().versions}".encode())
    for path in sorted(SKELETON.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(SKELETON)} {path.stat().st_mode}".encode())
            digest.update(path.read_bytes())
    return machines_folder() / "images" / f"{RELEASE}-{digest.hexdigest()[:12]}"


def node_programs(progress: Progress) -> dict[str, FoundProgram]:
    """The kubelet and kubeadm; they are built if they are nowhere."""
    named, store = named_programs(None), ProgramStore(cache_folder())
    return ProgramSearch(wanted_versions(), named, store, progress, NODE_PROGRAMS).run()


def make_image(progress: Progress) -> Path:
    """Make the image, unless it exists."""
    image = image_folder()
    programs = node_programs(progress)
    with locked(machines_folder() / "image.lock", waiting=lambda: None, within=_MADE_WITHIN):
        if not image.exists():
            shutil.rmtree(image.parent, ignore_errors=True)
            _make(image, programs, progress)
    return image


def _make(image: Path, programs: Mapping[str, FoundProgram], progress: Progress) -> None:
    draft = image.with_suffix(".new")
    draft.mkdir(parents=True)
    progress.say("making the image of servers from Debian's packages; this takes minutes, once")
    _install_packages(draft)
    shutil.copytree(SKELETON, draft, dirs_exist_ok=True)
    library = draft / LIBRARY
    library.mkdir(parents=True)
    shutil.copyfile(programs["kubelet"].path, draft / "usr/bin/kubelet")
    shutil.copyfile(programs["kubeadm"].path, library / "kubeadm")
    for each in (draft / "usr/bin/kubelet", library / "kubeadm"):
        each.chmod(0o755)
    archive_of(draft / "usr/bin/busybox", library / "images.tar")
    _arrange_units(draft)
    _finish(draft)
    draft.rename(image)


def _finish(image: Path) -> None:
    # Each server has its own.
    for name in ("machine-id", "hostname", "hosts"):
        (image / "etc" / name).unlink(missing_ok=True)
    # A name that isn't known must be refused at once. mmdebstrap copies this machine's resolvers.
    (image / "etc/resolv.conf").write_text("")
    # systemd need not update what the packages have just made.
    for name in ("etc", "var"):
        (image / name / ".updated").touch()


def _install_packages(folder: Path) -> None:
    if shutil.which("mmdebstrap") is None:
        raise Misconfigured("mmdebstrap isn't installed, which makes the image: install it")
    if os.geteuid() != 0:
        raise Misconfigured("only root can make the image of servers")
    # In a mount namespace, so that an interrupted one leaves no mount.
    command = [
        *("unshare", "--mount", "mmdebstrap", "--mode=root", "--variant=apt"),
        f"--include={','.join(PACKAGES)}",
        *(f"--dpkgopt=path-exclude=/usr/share/{each}/*" for each in ("doc", "man", "locale")),
        *(RELEASE, str(folder), f"deb {mirror()} {RELEASE} main"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        raise Misconfigured(f"mmdebstrap can't make the image: {' '.join(said[:2])}")


def mirror() -> str:
    """Where this machine's own packages of Debian come from."""
    debian = ("Origin: Debian", "Label: Debian")
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI)", *debian]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Misconfigured("this machine has no apt, which knows a mirror of Debian") from None
    if not done.stdout.strip():
        raise Misconfigured("apt knows no mirror of Debian: run apt-get update")
    return done.stdout.split()[0]


def _arrange_units(image: Path) -> None:
    units = image / "etc/systemd/system"
    for name in (*(f"{each}.service" for each in MASKED), *MASKED_UNITS):
        _link(units / name, "/dev/null")
    for name in ENABLED:
        place = "etc" if (units / f"{name}.service").exists() else "usr/lib"
        wanted = units / "multi-user.target.wants" / f"{name}.service"
        _link(wanted, f"/{place}/systemd/system/{name}.service")
    _link(units / "default.target", "/usr/lib/systemd/system/multi-user.target")


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def missing_parts() -> Iterator[str]:
    """What isn't made yet."""
    if not image_folder().exists():
        yield "the image of servers isn't made: run `make programs` as root"


def main() -> int:
    """Make the image, and print where it is, or why it can't be made here."""
    progress = Progress()
    try:
        print(make_image(progress))  # noqa: T201 - for people
    except (GrowthError, OSError) as failure:
        print(f"the image of servers can't be made: {failure}", file=sys.stderr)  # noqa: T201 - for people
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
