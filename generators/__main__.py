"""`python -m generators` generates all manifests and reference pages from the code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from generators.admission import registration_files
from generators.charts import charts
from generators.commands import commands_page
from generators.metrics import metrics_page
from generators.monitoring import monitoring_files
from generators.objects import objects_page
from generators.settings import settings_page
from generators.staircase import staircase_picture
from growth.api.crd import definition_files, fleet_definition_files, sizing_definition_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT: Final = Path(__file__).resolve().parents[1]


GENERATED: Final[Mapping[str, Callable[[], Mapping[str, str]]]] = {
    "manifests/crds": definition_files,
    "manifests/fleet/crds": fleet_definition_files,
    "manifests/sizing/crds": sizing_definition_files,
    "manifests/base": registration_files,
    "manifests/monitoring": monitoring_files,
    "manifests/charts": charts,
    "docs/concepts": lambda: {"sizing.svg": staircase_picture()},
    "docs/reference": lambda: {
        "objects.md": objects_page(),
        "metrics.md": metrics_page(),
        "commands.md": commands_page(),
        "settings.md": settings_page(),
    },
}
"""Folders, and the texts of the files in each. Charts come after the manifests that they
contain."""


def main(root: Path = ROOT) -> None:
    """Write them."""
    for folder, texts in GENERATED.items():
        for name, text in texts().items():
            path = root / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
