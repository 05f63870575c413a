"""Names and labels that both registrations share."""

from __future__ import annotations

from typing import Final

from growth.api.installed import COMPONENT_LABEL, NAME_LABEL

PATH: Final = "/mutate-pods"
"""The path for reviews of pods."""
LABELS: Final = {
    NAME_LABEL: "growth",
    COMPONENT_LABEL: "webhooks",
    "app.kubernetes.io/part-of": "growth",
}
