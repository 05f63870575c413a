"""Which NodeRequests belong to one plan: only their creation times tell.

The API server gives these in whole seconds, and the requests of one plan may be created on both
sides of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest


def second_of(request: NodeRequest) -> int:
    """The second in which a request was created; 0 if it hasn't been created yet."""
    made_at = request.metadata.creation_timestamp
    return 0 if made_at is None else int(made_at.timestamp())


def of_one_plan(second: int) -> range:
    """The seconds in which other requests of the same plan may have been created."""
    return range(second - 1, second + 2)
