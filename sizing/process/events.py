"""Events on Hvpas: what was changed, and what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.wellknown import GROUP_VERSION
from growth.errors import GiveUp, Misconfigured
from growth.kube.events import Event, ObjectReference, Severity
from sizing.core.actions import TakeStep
from sizing.rule.applying import SetReplicas

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.hvpa import Hvpa
    from growth.errors import GrowthError
    from sizing.core.actions import SizingAction

CONTROLLER: Final = "growth.dev/sizing"


class SizingEvents:
    """Tells of steps that were taken or refused."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit

    def done(self, action: SizingAction) -> None:
        """Tell that a step was taken."""
        if isinstance(action, TakeStep):
            self._emit(_of_step(action))

    def failed(self, action: SizingAction, error: GrowthError) -> None:
        """Tell that a step was refused. What will be tried again at once isn't told."""
        if isinstance(action, TakeStep) and isinstance(error, GiveUp | Misconfigured):
            self._emit(
                Event(
                    regarding=_reference(action.hvpa),
                    reason="ChangeRefused",
                    action="Scale",
                    note=str(error),
                    severity=Severity.WARNING,
                )
            )


def _of_step(action: TakeStep) -> Event:
    target = action.hvpa.spec.target_ref
    match action.step:
        case SetReplicas(count=count):
            reason, note = "ReplicasChanged", f"{target.kind} {target.name} has {count} replicas"
        case _:
            reason, note = "PodsResized", f"pods of {target.kind} {target.name} get another size"
    return Event(regarding=_reference(action.hvpa), reason=reason, action="Scale", note=note)


def _reference(hvpa: Hvpa) -> ObjectReference:
    return ObjectReference(
        api_version=GROUP_VERSION,
        kind="Hvpa",
        name=hvpa.name,
        namespace=hvpa.metadata.namespace,
        uid=hvpa.metadata.uid,
    )
