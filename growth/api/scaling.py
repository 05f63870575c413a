"""`spec.scaling`: which policy decides how many machines a pool has, and the policy's own fields.

It is a union with a discriminator, as in Kubernetes: `policy` names the member, and each policy has
one optional object of its own, which may only be set with that policy. An object that is left out
means its defaults. Each policy's fields and their rules are in a module of its own.

A policy is added here with its rule in `reconciler/scaling/registry.py`, not before: its name in
the enum, its object as a field of `Scaling`, and `only_with` for that field in `rules`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import BeforeValidator, WithJsonSchema

from growth.api.model import Model
from growth.api.rules import AnyRule, Rule, RuleBreach
from growth.api.scaling_desired import DesiredScaling
from growth.api.scaling_utilisation import UtilisationScaling

if TYPE_CHECKING:
    from collections.abc import Iterable


class ScalingPolicyName(StrEnum):
    """The policies that a pool may name. Those that aren't here yet are refused."""

    DEMAND = "Demand"
    UTILISATION = "Utilisation"
    DESIRED = "Desired"


_OLD_SPELLING: Final = "demand"
"""What pools said before there was a second policy; it is stored in their specs."""


def _spelled_now(policy: object) -> object:
    return ScalingPolicyName.DEMAND if policy == _OLD_SPELLING else policy


_SPELLINGS: Final = [*map(str, ScalingPolicyName), _OLD_SPELLING]


def only_with(policy: str, *, field: str) -> Rule:
    """The fields of one policy say nothing under another one."""

    def breaches(scaling: Scaling) -> Iterable[RuleBreach]:
        if scaling.field(field) is not None and scaling.policy != policy:
            yield RuleBreach(at=(field,), words={"policy": scaling.policy})

    return Rule(
        cel=f"!has(self.{field}) || self.policy == '{policy}'",
        text=f"{field} is only for the policy {policy}, but the policy is {{policy}}: remove "
        f"{field} or change the policy",
        words={"policy": "self.policy"},
        breaches=breaches,
    )


def _has_no_number(scaling: Scaling) -> Iterable[RuleBreach]:
    if scaling.policy == ScalingPolicyName.DESIRED and scaling.desired is None:
        yield RuleBreach(at=("desired",))


_DESIRED_HAS_A_NUMBER: Final = Rule(
    cel="self.policy != 'Desired' || has(self.desired)",
    # kubectl scale can't set a number in an object that isn't there.
    text="the policy Desired needs the object desired: add it with minNodes and maxNodes",
    breaches=_has_no_number,
)


class Scaling(Model):
    """What decides how many machines the pool has."""

    rules: ClassVar[tuple[AnyRule, ...]] = (
        only_with("Utilisation", field="utilisation"),
        only_with("Desired", field="desired"),
        _DESIRED_HAS_A_NUMBER,
    )

    policy: Annotated[
        ScalingPolicyName,
        BeforeValidator(_spelled_now),
        WithJsonSchema({"type": "string", "enum": _SPELLINGS}),
    ] = ScalingPolicyName.DEMAND
    """Demand: buy machines for pending pods and give back idle ones. Utilisation: keep what the
    pool's pods request at a share of what its nodes have. Desired: keep a number of nodes that
    people and programs set."""
    utilisation: UtilisationScaling | None = None
    """Settings of the policy Utilisation. Unset means their defaults."""
    desired: DesiredScaling | None = None
    """Settings of the policy Desired."""
