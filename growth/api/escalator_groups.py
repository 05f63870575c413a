"""Escalator's own file of node groups, read as Escalator reads it, and what it means for a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from growth.api.model import Model
from growth.api.scaling_utilisation import UtilisationScaling
from growth.api.taints import TaintEffect
from growth.api.written import Duration
from growth.api.yaml_text import BrokenText, documents
from growth.errors import Misconfigured

if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING_LONG: Final = Duration(0)


class EscalatorGroup(Model):
    """One node group, with the names that its file uses."""

    name: str = ""
    label_key: str = ""
    label_value: str = ""
    cloud_provider_group_name: str = ""
    min_nodes: int = 0
    max_nodes: int = 0
    dry_mode: bool = False
    scale_on_starve: bool = False
    taint_upper_capacity_threshold_percent: int = 0
    taint_lower_capacity_threshold_percent: int = 0
    scale_up_threshold_percent: int = 0
    slow_node_removal_rate: int = 0
    fast_node_removal_rate: int = 0
    soft_delete_grace_period: str = ""
    hard_delete_grace_period: str = ""
    scale_up_cool_down_period: str = ""
    scale_up_cool_down_timeout: str = ""
    taint_effect: str = ""
    max_node_age: str = ""
    unhealthy_node_grace_period: str = ""
    health_check_newest_nodes_percent: int = 0
    max_unhealthy_nodes_percent: int = 0

    @property
    def discovers_bounds(self) -> bool:
        """Whether minimum and maximum are those of the provider's group."""
        return self.min_nodes == self.max_nodes == 0

    @property
    def effect(self) -> TaintEffect:
        """The effect of its taint."""
        return TaintEffect(self.taint_effect or TaintEffect.NO_SCHEDULE)

    def duration(self, option: str) -> Duration:
        """A duration; one without a unit, or that can't be read, is none."""
        try:
            return Duration.parse(str(getattr(self, option)))
        except ValueError:
            return NOTHING_LONG


def escalator_groups(text: str) -> tuple[EscalatorGroup, ...]:
    """The groups in a file."""
    try:
        found = [each.data for each in documents(text)]
        groups = [group for each in found for group in (each or {}).get("node_groups") or ()]
        return tuple(EscalatorGroup.model_validate(group) for group in groups)
    except (BrokenText, ValidationError, AttributeError) as error:
        line = str(error).splitlines()[0]
        raise Misconfigured(f"this isn't a file of Escalator's node groups: {line}") from error


_Check = tuple["Callable[[EscalatorGroup], object]", str]
_IS_SET: Final[tuple[_Check, ...]] = (
    (lambda g: g.name, "name cannot be empty"),
    (lambda g: g.label_key, "label_key cannot be empty"),
    (lambda g: g.label_value, "label_value cannot be empty"),
    (lambda g: g.cloud_provider_group_name, "cloud_provider_group_name cannot be empty"),
)
_IN_ORDER: Final[tuple[_Check, ...]] = (
    (
        lambda g: g.taint_upper_capacity_threshold_percent > 0,
        "taint_upper_capacity_threshold_percent must be larger than 0",
    ),
    (
        lambda g: g.taint_lower_capacity_threshold_percent > 0,
        "taint_lower_capacity_threshold_percent must be larger than 0",
    ),
    (
        lambda g: g.scale_up_threshold_percent > 0,
        "scale_up_threshold_percent must be larger than 0",
    ),
    (
        lambda g: (
            g.taint_lower_capacity_threshold_percent < g.taint_upper_capacity_threshold_percent
        ),
        (
            "taint_lower_capacity_threshold_percent must be less than "
            "taint_upper_capacity_threshold_percent"
        ),
    ),
    (
        lambda g: g.taint_upper_capacity_threshold_percent < g.scale_up_threshold_percent,
        "taint_upper_capacity_threshold_percent must be less than scale_up_threshold_percent",
    ),
    (
        lambda g: g.discovers_bounds or g.min_nodes < g.max_nodes,
        "min_nodes must be less than max_nodes",
    ),
    (lambda g: g.discovers_bounds or g.max_nodes > 0, "max_nodes must be larger than 0"),
    (lambda g: g.min_nodes >= 0, "min_nodes must be not less than 0"),
    (
        lambda g: g.slow_node_removal_rate <= g.fast_node_removal_rate,
        "slow_node_removal_rate must be less than fast_node_removal_rate",
    ),
)
_IN_TIME: Final[tuple[_Check, ...]] = (
    (lambda g: g.soft_delete_grace_period, "soft_delete_grace_period must not be empty"),
    (lambda g: g.hard_delete_grace_period, "hard_delete_grace_period must not be empty"),
    (
        lambda g: g.duration("soft_delete_grace_period") > NOTHING_LONG,
        "soft_delete_grace_period failed to parse into a time.Duration. check your formatting.",
    ),
    (
        lambda g: g.duration("hard_delete_grace_period") > NOTHING_LONG,
        "hard_delete_grace_period failed to parse into a time.Duration. check your formatting.",
    ),
    (
        lambda g: g.duration("soft_delete_grace_period") < g.duration("hard_delete_grace_period"),
        "soft_delete_grace_period must be less than hard_delete_grace_period",
    ),
    (lambda g: g.scale_up_cool_down_period, "scale_up_cool_down_period must not be empty"),
    (
        lambda g: (
            not g.scale_up_cool_down_timeout
            or g.duration("scale_up_cool_down_period") < g.duration("scale_up_cool_down_timeout")
        ),
        "scale_up_cool_down_timeout must be longer than scale_up_cool_down_period",
    ),
)
_REST: Final[tuple[_Check, ...]] = (
    (
        lambda g: g.taint_effect in {"", *map(str, TaintEffect)},
        "taint_effect must be valid kubernetes taint",
    ),
    (
        lambda g: g.max_node_age in {"", "0"} or g.duration("max_node_age") > NOTHING_LONG,
        "max_node_age failed to parse into a time.Duration. check your formatting.",
    ),
    (
        lambda g: (
            not g.unhealthy_node_grace_period
            or g.duration("unhealthy_node_grace_period") > NOTHING_LONG
        ),
        "unhealthy_node_grace_period failed to parse into a time.Duration. check your formatting.",
    ),
    (
        lambda g: (
            not g.unhealthy_node_grace_period or 1 <= g.health_check_newest_nodes_percent <= 100
        ),
        "health_check_newest_nodes_percent must be from 1 to 100",
    ),
    (
        lambda g: not g.unhealthy_node_grace_period or 0 <= g.max_unhealthy_nodes_percent <= 99,
        "max_unhealthy_nodes_percent must be from 0 to 99",
    ),
)


def mistakes_of_group(group: EscalatorGroup) -> list[str]:
    """What is wrong with a group, in the words of its options."""
    checks = (*_IS_SET, *_IN_ORDER, *_IN_TIME, *_REST)
    return [text for is_right, text in checks if not is_right(group)]


def utilisation_of_group(group: EscalatorGroup) -> UtilisationScaling:
    """The same as settings of a pool; only for a group without mistakes."""
    health = group.unhealthy_node_grace_period
    fields: dict[str, Any] = {
        name: getattr(group, name)
        for name in (
            *("min_nodes", "max_nodes", "scale_on_starve", "scale_up_threshold_percent"),
            "taint_upper_capacity_threshold_percent",
            "taint_lower_capacity_threshold_percent",
            *("slow_node_removal_rate", "fast_node_removal_rate"),
            *("soft_delete_grace_period", "hard_delete_grace_period", "scale_up_cool_down_period"),
        )
    }
    fields["taint_effect"] = group.effect
    if group.scale_up_cool_down_timeout:
        fields["scale_up_cool_down_timeout"] = group.scale_up_cool_down_timeout
    else:
        twice = Duration(group.duration("scale_up_cool_down_period").nanoseconds * 2)
        fields["scale_up_cool_down_timeout"] = max(twice, Duration.parse("10m"))
    if group.duration("max_node_age") > NOTHING_LONG:
        fields["max_node_age"] = group.max_node_age
    if health:
        fields["unhealthy_node_grace_period"] = health
        fields["health_check_newest_nodes_percent"] = group.health_check_newest_nodes_percent
        fields["max_unhealthy_nodes_percent"] = group.max_unhealthy_nodes_percent
    return UtilisationScaling(**fields)
