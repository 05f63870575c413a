"""Which machines were asked for by one plan: nothing says so but when their requests were made.

The API server tells that in whole seconds, and the creations of one plan may lie on both sides of
one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest


def second_of(request: NodeRequest) -> int:
    """The second in which a machine was asked for; 0 before the API server has taken it in."""
    made_at = request.metadata.creation_timestamp
    return 0 if made_at is None else int(made_at.timestamp())


def of_one_plan(second: int) -> range:
    """The seconds in which others of the same plan may have been asked for."""
    return range(second - 1, second + 2)
