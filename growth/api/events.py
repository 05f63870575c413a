"""The history in the status of a request: what happened, when, and why.

It is bounded, because a request that is retried for days would otherwise grow until it can't be
written any more. The first entry stays, since it says when everything began, and the latest 30.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from growth.api.bounds import Atomic, Sentence
from growth.api.model import Model
from growth.api.written import Timestamp

NEWEST: Final = 30


class RequestEvent(Model):
    """Something that happened to a request."""

    at: Timestamp
    """When it happened."""
    name: Annotated[str, Field(min_length=1, max_length=64)]
    """What happened, such as nodeRequested or "Deletion failed"."""
    reason: Sentence | None = None
    """Why, in the provider's words."""


Events = Annotated[tuple[RequestEvent, ...], Field(max_length=NEWEST + 1), Atomic()]
"""The first event and the latest 30."""


def with_event(events: tuple[RequestEvent, ...], event: RequestEvent) -> tuple[RequestEvent, ...]:
    """The history after one more event."""
    return (*events[:1], *(*events[1:], event)[-NEWEST:]) if events else (event,)
