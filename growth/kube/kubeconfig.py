"""Finds the API server and our credentials: from a kubeconfig or the pod's service account.

The client library reads both, but its errors quote the file, including tokens. So the file is
checked here first, and errors say in our words what is wrong, where, and how to fix it.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from growth.clocks import wall_clock
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from kubernetes.aio.client import Configuration

EXPIRY_MARGIN = timedelta(minutes=2)
"""How long before its expiry a plugin's token is renewed: two periods of `Credentials`."""

_REPLACED = frozenset({"tokenFile", "client-certificate", "certificate-authority"})
"""Fields that name a file, which may be replaced at any time."""

FLAG_HINT = "set --kubeconfig or KUBECONFIG"


@dataclass(frozen=True, kw_only=True)
class Access:
    """The server and the credentials, and how to read them again when tokens expire."""

    configuration: Configuration
    read: Callable[[], Awaitable[None]]
    """Reads files and plugins again, into `configuration`."""
    is_due: Callable[[], bool]
    """Whether they may have changed; without this, plugins would run every minute."""
    origin: str
    """Their source, for texts."""


async def access(*, kubeconfig: Path | None, context: str | None) -> Access:
    """From the flag, KUBECONFIG, ~/.kube/config or the pod's service account, in this order."""
    paths = await asyncio.to_thread(_paths, kubeconfig)
    if not paths and context is None and "KUBERNETES_SERVICE_HOST" in os.environ:
        return await _in_cluster()
    if not paths:
        raise Misconfigured(f"no kubeconfig found, and this isn't a pod; {FLAG_HINT}")
    return await _from_files(paths, context)


def _paths(kubeconfig: Path | None) -> tuple[Path, ...]:
    """The files to merge. A file of the flag must exist; of those in KUBECONFIG, one must."""
    if kubeconfig is not None:
        return (kubeconfig,)
    listed = [
        Path(item).expanduser() for item in os.environ.get("KUBECONFIG", "").split(":") if item
    ]
    if listed:
        return tuple(path for path in listed if path.exists()) or tuple(listed)
    default = Path.home() / ".kube" / "config"
    return (default,) if default.exists() else ()


async def _in_cluster() -> Access:
    configuration = await asyncio.to_thread(_new_configuration)

    async def read() -> None:
        await asyncio.to_thread(_load_service_account, configuration)

    await read()
    return Access(
        configuration=configuration,
        read=read,
        is_due=lambda: True,
        origin="the pod's service account",
    )


def _load_service_account(configuration: Configuration) -> None:
    from kubernetes.aio.config import (  # noqa: PLC0415 - a second of import
        ConfigException,
        load_incluster_config,
    )

    try:
        # Without the library's own refresh, which would block the event loop to read the file.
        load_incluster_config(configuration, try_refresh_token=False)  # type: ignore[no-untyped-call]
    except (ConfigException, OSError) as error:
        raise Misconfigured(
            f"service account of this pod: {error} Set automountServiceAccountToken: true"
        ) from None


async def _from_files(paths: tuple[Path, ...], context: str | None) -> Access:
    configuration = await asyncio.to_thread(_new_configuration)
    due: Callable[[], bool]

    async def read() -> None:
        nonlocal due
        # In a thread with its own event loop: files, certificates and plugins would block ours.
        due = await asyncio.to_thread(
            asyncio.run, _load(configuration, paths=paths, context=context)
        )

    def is_due() -> bool:
        return due()

    await read()
    return Access(
        configuration=configuration,
        read=read,
        is_due=is_due,
        origin=":".join(map(str, paths)),
    )


def _new_configuration() -> Configuration:
    from kubernetes.aio.client import Configuration  # noqa: PLC0415 - a second of import

    return Configuration()


async def _load(
    configuration: Configuration, *, paths: tuple[Path, ...], context: str | None
) -> Callable[[], bool]:
    """Fill the configuration; returns a function that says whether to read it again."""
    from kubernetes.aio.config import load_kube_config  # noqa: PLC0415 - a second of import

    cluster, user = _checked(paths, context)
    origin = ":".join(map(str, paths))
    try:
        loader = await load_kube_config(  # type: ignore[no-untyped-call]
            config_file=origin,
            context=context,
            client_configuration=configuration,
            persist_config=False,
        )
    except Exception as error:  # noqa: BLE001 - the library raises nine kinds, and quotes secrets
        raise Misconfigured(
            f"{origin}: the credentials can't be used ({type(error).__name__});"
            " check the files, base64 and expiry that this context names"
        ) from None
    _expect_plugin_success(configuration, user=user, origin=origin)
    expiry = getattr(loader, "exec_plugin_expiry", None)
    if expiry is not None:
        return lambda: wall_clock() >= expiry - EXPIRY_MARGIN
    return lambda: not _REPLACED.isdisjoint({*cluster, *user})


def _expect_plugin_success(
    configuration: Configuration, *, user: Mapping[str, Any], origin: str
) -> None:
    # The library only logs a failed plugin; requests would then fail with 401.
    if "exec" in user and not (configuration.api_key or configuration.cert_file):
        command = user["exec"].get("command", "?")
        raise Misconfigured(
            f"{origin}: the sign-in program {command!r} gave no credentials;"
            " run it by hand to see what it lacks"
        )


def _checked(
    paths: tuple[Path, ...], context: str | None
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The cluster and user of the context; each problem of the files is an error of one line."""
    files = [(path, _parsed(path)) for path in paths]
    named = context or next(
        (name for _, file in files if (name := file.get("current-context"))), None
    )
    origin = ":".join(map(str, paths))
    if not named:
        raise Misconfigured(f"{origin}: no current-context; set --context")
    chosen = _entry(files, origin=origin, section="contexts", name=named)
    cluster = _entry(files, origin=origin, section="clusters", name=str(chosen.get("cluster", "")))
    if not cluster.get("server"):
        raise Misconfigured(
            f"{origin}: the cluster of context {named!r} has no server; add its URL"
        )
    user = _entry(files, origin=origin, section="users", name=str(chosen.get("user", "")))
    return cluster, user


def _entry(
    files: list[tuple[Path, dict[str, Any]]], *, origin: str, section: str, name: str
) -> dict[str, Any]:
    key = section.removesuffix("s")
    known = {
        str(item["name"]): item.get(key)
        # Later entries replace earlier ones here, while kubectl takes the first file that has a
        # name.
        for _, file in reversed(files)
        for item in (file.get(section) or ())
        if isinstance(item, dict) and "name" in item
    }
    if name not in known:
        raise Misconfigured(
            f"{origin}: no {key} {name!r}; available: {', '.join(sorted(known)) or 'none'}"
        )
    found = known[name]
    if not isinstance(found, dict):
        raise Misconfigured(f"{origin}: {key} {name!r} is empty; create it again")
    return found


def _parsed(path: Path) -> dict[str, Any]:
    try:
        parsed = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise Misconfigured(f"{path}: {error.strerror}; {FLAG_HINT}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise Misconfigured(f"{path}{line}: this isn't YAML; correct the kubeconfig") from None
    if not isinstance(parsed, dict):
        raise Misconfigured(f"{path}: this isn't a kubeconfig; {FLAG_HINT}")
    return parsed
