"""Taints of nodes, as a pool's spec writes them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from growth.api.bounds import LabelKey, LabelValue, ListMap
from growth.api.model import Model


class TaintEffect(StrEnum):
    """What a taint does to pods that don't tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class PoolTaint(Model):
    """A node taint."""

    key: LabelKey
    """Key of the taint."""
    value: LabelValue = ""
    """Value of the taint."""
    effect: TaintEffect
    """Effect of the taint on pods that don't tolerate it."""


Taints = Annotated[tuple[PoolTaint, ...], Field(max_length=32), ListMap("key", "effect")]
