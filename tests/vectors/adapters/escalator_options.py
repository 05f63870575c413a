"""Escalator's own file of node groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from growth.api.escalator_groups import (
    EscalatorGroup,
    escalator_groups,
    mistakes_of_group,
    utilisation_of_group,
)
from growth.errors import Misconfigured
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json

BROKEN = "- a list item\na: mapping key at top level\n"


@adapts("validate", system="escalator")
def validate(given: Json) -> Json:
    (group,) = escalator_groups(yaml.safe_dump({"node_groups": [dict(given)]}))
    mistakes = mistakes_of_group(group)
    if not mistakes:
        utilisation_of_group(group)
    return {"errors": mistakes}


@adapts("autodiscover_min_max", system="escalator")
def autodiscover_min_max(given: Json) -> Json:
    group = EscalatorGroup(min_nodes=given["min_nodes"], max_nodes=given["max_nodes"])
    return {"auto_discover": group.discovers_bounds}


@adapts("parse_config", system="escalator")
def parse_config(given: Json) -> Json:
    text = BROKEN if "yaml" in given else yaml.safe_dump({"node_groups": [dict(given)]})
    try:
        (group,) = escalator_groups(text)
    except Misconfigured:
        return {"error": True, "groups": 0}
    return {
        "soft_seconds": group.duration("soft_delete_grace_period").seconds,
        "hard_seconds": group.duration("hard_delete_grace_period").seconds,
        "taint_effect": group.taint_effect,
        "max_node_age_seconds": group.duration("max_node_age").seconds,
    }
