"""What both registrations of admission say in the same words."""

from __future__ import annotations

from typing import Final

from growth.api.installed import COMPONENT_LABEL, NAME_LABEL

PATH: Final = "/mutate-pods"
"""Where reviews of pods are posted."""
LABELS: Final = {
    NAME_LABEL: "growth",
    COMPONENT_LABEL: "webhooks",
    "app.kubernetes.io/part-of": "growth",
}
