"""Answers that no object shows yet; the simulated effects remember them by the same rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reconciler.core.actions import Delete, PatchStatus, SetFinalizers
from reconciler.core.world import Replies

if TYPE_CHECKING:
    from reconciler.core.actions import CrashedStep, Evicted, Solved, Subject
    from reconciler.providers.port import Answered, GivenBack

REQUESTS: Final = "NodeRequest"
REMOVALS: Final = "NodeRemovalRequest"


@dataclass(kw_only=True)
class Heard:
    """Answers of providers, of the API server and of the solver."""

    answers: dict[str, Answered] = field(default_factory=dict)
    """The answers of providers, by the name of the request, until its status shows them."""
    deletions: dict[str, GivenBack] = field(default_factory=dict)
    """Answers to deletes, by the name of the machine, until the removal's status shows them."""
    evictions: dict[str, Evicted] = field(default_factory=dict)
    """The API server's answers to evictions, by the pod's UID, until the pod is gone."""
    plans: dict[str, Solved] = field(default_factory=dict)
    """The last plan of each lane."""
    crashes: dict[Subject, CrashedStep] = field(default_factory=dict)
    """Subjects on which the last step has crashed, until one that changes something succeeds."""

    @property
    def replies(self) -> Replies:
        """All of it, as a World holds it."""
        return Replies(
            answers=self.answers,
            deletions=self.deletions,
            evictions=self.evictions,
            plans=self.plans,
            crashes=self.crashes,
        )

    def forget(self, done: PatchStatus | SetFinalizers | Delete) -> None:
        """Forgets the answer that an object now shows, or that goes with the object.

        A removal ends by a delete without a new status; a request by the loss of its finalizer.
        """
        name = done.version.name
        if done.kind == REMOVALS and not isinstance(done, SetFinalizers):
            self.deletions.pop(name, None)
        if done.kind == REQUESTS and not isinstance(done, Delete):
            self.answers.pop(name, None)
