"""Are growth's definitions installed and served, and are they those of this version?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api import crd
from growth.cli.doctor.examination.finding import fail, ok
from growth.cli.support import OBJECT_VERSION
from growth.installation.definitions import is_established

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Findings

HINT: Final = "growth crds apply"
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


async def examine_objects(place: ExaminedCluster) -> Findings:
    """A finding for each wrong definition, or one for all."""
    wanted = crd.definitions().values()
    texts = [text for each in wanted if (text := await _difference(place, each))]
    for text in texts:
        yield fail("objects", text, HINT)
    if not texts:
        yield ok("objects", f"{len(wanted)} kinds, {OBJECT_VERSION.split('/')[1]}")


async def _difference(place: ExaminedCluster, wanted: dict[str, Any]) -> str:
    name = wanted["metadata"]["name"]
    installed = await place.found(f"{DEFINITIONS}/{name}")
    if installed is None:
        return f"{name} is not installed"
    if not is_established(installed):
        return f"{name} is installed, but the API server doesn't serve it"
    if _schemas(installed) != _schemas(wanted):
        return f"{name} belongs to another version of growth"
    return ""


def _schemas(definition: dict[str, Any]) -> dict[str, Any]:
    return {version["name"]: version["schema"] for version in definition["spec"]["versions"]}
