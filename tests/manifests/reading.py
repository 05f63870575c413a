"""What the manifests say: objects by kind and name, pods, and who may do what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.installation.rendering import rendered
from growth.installation.values import InstallationValues, ProviderChoice, SchedulerChoice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Object = dict[str, Any]
SYSTEM: Final = "growth-system"
ALL: Final = [
    item
    for provider in ProviderChoice
    for item in rendered(InstallationValues(provider=provider, scheduler=SchedulerChoice.SECOND))
]


def named(items: Iterable[Object], kind: str, name: str) -> Object:
    return next(each for each in items if (each["kind"], each["metadata"]["name"]) == (kind, name))


def pods() -> Iterator[tuple[str, Object]]:
    """The pod of each workload, with the workload's name."""
    for item in ALL:
        if item["kind"] in {"Deployment", "DaemonSet"}:
            yield item["metadata"]["name"], item["spec"]["template"]["spec"]
