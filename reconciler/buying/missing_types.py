"""Why a server type that a pool names can't be bought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.references import not_sold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.written import ServerTypeName
    from reconciler.providers.port import Offering

PLACES: Final = 5


def why_missing(name: ServerTypeName, offerings: Iterable[Offering], *, node_class: str) -> str:
    """Why the type can't be bought; `offerings` are those of the class."""
    sold = list(offerings)
    places = sorted({each.location for each in sold if each.server_type == name})
    if places:
        known = ", ".join(places[:PLACES]) + (" and elsewhere" if len(places) > PLACES else "")
        return f"{name} is sold in {known}, and in none of the pool's locations"
    return not_sold(name, {each.server_type for each in sold}, node_class=node_class)
