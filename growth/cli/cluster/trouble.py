"""What is wrong with growth itself: the first line of `status`, `explain` and others.

Without a leading reconciler, no plan is made for pending pods, and figures are outdated. A few
requests are enough to find out, so every command makes them: the Lease, judged by the API server's
clock; the ConfigMap of a pause; the replica counts of the other processes. What can't be read, for
lack of permissions or time, is left out. `growth doctor` checks more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import msgspec

import growth
from growth.api.installed import (
    EXTENDER,
    NAME_LABEL,
    PAUSE_CONFIG_MAP,
    RECONCILER_LEASE,
    SCHEDULER,
    WEBHOOKS,
)
from growth.api.wellknown import PAUSE_UNTIL_KEY
from growth.api.written import write_time
from growth.cli.cluster.lists import together
from growth.cli.cluster.stopped import ASIDE_REMEDY, LEASES, put_aside_by, stopped_by
from growth.cli.terminal.output import coloured
from growth.errors import RetryLater
from growth.foreign_text import parse_time
from growth.installation.awaiting import is_over
from growth.kube.errors import Denied
from growth.kube.reads import Reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.cli.cluster.lists import Lists
    from growth.kube.call import Query
    from growth.kube.transport import Response

Object = dict[str, Any]

PATIENCE: Final = 4.0
"""Seconds to wait; slower answers are left out, because the command's own answer matters more."""
NAMED: Final = {"labelSelector": f"{NAME_LABEL}=growth"}
WORKLOADS: Final = ("deployments", "daemonsets")
NEEDED_FOR: Final = {
    WEBHOOKS: "new pods get no tolerations for pools",
    EXTENDER: "kube-scheduler works without growth's priorities",
    SCHEDULER: "pods that name this scheduler stay pending",
}
"""What doesn't work while no pod of a workload is ready. An unready reconciler doesn't lead."""


OWN_IMAGE: Final = re.compile(
    r"(^|/)growth-(servers|reconciler):v?(?P<version>[0-9]+\.[0-9]+\.[0-9]+)(@|$)"
)


class Matter(StrEnum):
    """What is wrong, as a word for programs; the first one that applies is reported."""

    NEVER_LED = "NeverLed"
    NOBODY_LEADS = "NobodyLeads"
    SEVERAL_LEAD = "SeveralLead"
    WRITING_STOPPED = "WritingStopped"
    PUT_ASIDE = "PutAside"
    PAUSED = "Paused"
    PROCESS_NOT_READY = "ProcessNotReady"
    OTHER_VERSION = "OtherVersion"


STANDSTILL: Final = frozenset(
    {Matter.NEVER_LED, Matter.NOBODY_LEADS, Matter.WRITING_STOPPED, Matter.PAUSED}
)
"""Troubles during which nothing is planned, bought or removed."""


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong, and how to fix it. The text doesn't change while it lasts."""

    reason: Matter
    text: str
    hint: str

    @property
    def stands_still(self) -> bool:
        """Whether nothing progresses until it is over."""
        return self.reason in STANDSTILL

    @property
    def needs_a_person(self) -> bool:
        """Whether growth works: a pause is intended, and a different version may be."""
        return self.reason not in {Matter.PAUSED, Matter.OTHER_VERSION}

    @property
    def line(self) -> str:
        """Text and hint in one line."""
        return f"growth itself: {self.text} ({self.hint})"


class Signs(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that the trouble is derived from."""

    now: datetime
    """The time of the API server's clock."""
    leases: tuple[Object, ...]
    """growth's Leases in all namespaces."""
    pauses: Mapping[str, str] = {}
    """The written end of a pause of all pools, by the namespace of a Lease."""
    workloads: tuple[Object, ...] = ()
    """Deployments and DaemonSets in the namespaces of the Leases."""


async def trouble_of(lists: Lists) -> Trouble | None:
    """What is wrong now; None if it can't be read in time or isn't permitted."""
    try:
        return await trouble_in_time(lists)
    except RetryLater:
        return None


async def trouble_in_time(lists: Lists) -> Trouble | None:
    """What is wrong now; raises if too little was answered in time."""
    questions = _Questions(lists)
    signs = await _signs(questions)
    found = None if signs is None else trouble(signs)
    if found is None and questions.late is not None:
        raise questions.late
    return found


def trouble(signs: Signs) -> Trouble | None:
    """The most serious problem, if there is one."""
    return next(_troubles(signs), None)


def trouble_line(found: Trouble | None) -> Iterator[str]:
    """The line for people, if there is a problem."""
    if found is not None:
        yield coloured(found.line, "red" if found.needs_a_person else "yellow")


def _troubles(signs: Signs) -> Iterator[Trouble]:
    yield from _of_leaders(signs)
    for namespace, until in signs.pauses.items():
        if (text := _paused(until, signs.now)) is not None:
            yield Trouble(reason=Matter.PAUSED, text=text, hint=f"growth resume -n {namespace}")
    for workload in signs.workloads:
        name = workload["metadata"]["name"]
        if name in NEEDED_FOR and _none_is_ready(workload):
            yield Trouble(
                reason=Matter.PROCESS_NOT_READY,
                text=f"no pod of {name} is ready: {NEEDED_FOR[name]}",
                hint="run growth doctor for the reason",
            )
    for workload in signs.workloads:
        version = _version(workload)
        if version not in {"", growth.__version__}:
            name = workload["metadata"]["name"]
            text = f"{name} has version {version}, this command {growth.__version__}"
            yield Trouble(
                reason=Matter.OTHER_VERSION, text=text, hint="upgrade with growth install"
            )


def _version(workload: Object) -> str:
    """The version in the tag of growth's own image, if any; the second scheduler has its own."""
    pods = workload["spec"].get("template", {}).get("spec", {})
    images = [each.get("image", "") for each in pods.get("containers", ())]
    tags = [OWN_IMAGE.search(image) for image in images]
    return next((tag["version"] for tag in tags if tag is not None), "")


def _of_leaders(signs: Signs) -> Iterator[Trouble]:
    leading = [each for each in signs.leases if _leads(each, signs.now)]
    stopped = next((text for each in leading if (text := stopped_by(each, signs.now))), "")
    aside = next((text for each in leading if (text := put_aside_by(each, signs.now))), "")
    match leading:
        case [] if not signs.leases:
            text = "no reconciler has ever led; nothing is planned"
            yield Trouble(reason=Matter.NEVER_LED, text=text, hint="start one with growth install")
        case []:
            text = "no reconciler leads; nothing is planned"
            hint = "run growth doctor for the reason"
            yield Trouble(reason=Matter.NOBODY_LEADS, text=text, hint=hint)
        case [_, _, *_]:
            places = ", ".join(sorted(each["metadata"]["namespace"] for each in leading))
            text = f"several reconcilers lead, in {places}; all of them buy for the same pods"
            hint = "run growth doctor for details"
            yield Trouble(reason=Matter.SEVERAL_LEAD, text=text, hint=hint)
        case _ if stopped:
            text = f"the reconciler has stopped writing: {stopped}"
            hint = "docs/runbooks/GrowthWritingStopped.md"
            yield Trouble(reason=Matter.WRITING_STOPPED, text=text, hint=hint)
        case _ if aside:
            text = f"the reconciler leaves alone what it can't decide about: {aside}"
            yield Trouble(reason=Matter.PUT_ASIDE, text=text, hint=ASIDE_REMEDY)
        case _:
            return


def _leads(lease: Object, now: datetime) -> bool:
    spec = lease["spec"]
    return bool(spec.get("holderIdentity")) and not is_over(spec, now)


def _paused(until: str, now: datetime) -> str | None:
    try:
        end = parse_time(until)
    except ValueError:
        return f'all pools are paused without an end: "{until}" is not a valid time'
    return f"all pools are paused until {write_time(end)}" if end > now else None


def _none_is_ready(workload: Object) -> bool:
    """Whether a Deployment or DaemonSet should have pods but has none that is ready."""
    status = workload.get("status", {})
    wanted = status.get("desiredNumberScheduled", workload["spec"].get("replicas", 0))
    return wanted > 0 and not status.get("numberReady", status.get("readyReplicas", 0))


async def _signs(questions: _Questions) -> Signs | None:
    """The facts that can be read; None without the Lease, which matters most."""
    answer = await questions.read(LEASES, {"fieldSelector": f"metadata.name={RECONCILER_LEASE}"})
    if answer is None:
        return None
    leases = tuple(answer.json()["items"])
    namespaces = sorted({each["metadata"]["namespace"] for each in leases})
    around = await together(_around(questions, name) for name in namespaces)
    untils = {name: _until(pause) for name, (pause, *_) in zip(namespaces, around, strict=True)}
    workloads = [each for _, *answers in around for each in answers if each is not None]
    return Signs(
        now=answer.date,
        leases=leases,
        pauses={name: until for name, until in untils.items() if until is not None},
        workloads=tuple(each for answer in workloads for each in answer.json()["items"]),
    )


async def _around(questions: _Questions, namespace: str) -> list[Response | None]:
    """The pause and the workloads in the namespace of a Lease."""
    core, apps = (f"/{each}/v1/namespaces/{namespace}" for each in ("api", "apis/apps"))
    return await together(
        [
            questions.read(f"{core}/configmaps/{PAUSE_CONFIG_MAP}"),
            *(questions.read(f"{apps}/{kind}", NAMED) for kind in WORKLOADS),
        ]
    )


def _until(pause: Response | None) -> str | None:
    """The written end of the pause."""
    return None if pause is None else (pause.json().get("data") or {}).get(PAUSE_UNTIL_KEY, "")


class _Questions:
    """Requests to the API server, and whether all were answered in time."""

    def __init__(self, lists: Lists) -> None:
        self._reads = Reads(lists.connection, limit=PATIENCE)
        self.late: RetryLater | None = None
        """The reason if not."""

    async def read(self, path: str, query: Query = ()) -> Response | None:
        """An answer, if the object exists, may be read, and comes in time."""
        try:
            return await self._reads.answer(path, query)
        except Denied:
            return None
        except RetryLater as late:
            self.late = late
            return None
