"""Does the API server enforce growth's policies?

They keep kubelets from writing in growth's name, and a stolen token from being worth much. Nothing
else notices if one is missing: growth works without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.cli.cluster.lists import together
from growth.cli.doctor.examination.finding import fail, ok
from growth.cli.doctor.examination.processes import is_installed
from growth.cli.doctor.examination.rights import examined_providers
from growth.installation.rendering import rendered
from growth.installation.resources import object_path
from growth.installation.values import InstallationValues

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Findings

POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"


async def examine_guards(place: ExaminedCluster) -> Findings:
    """A finding for each policy that isn't enforced, or one for all."""
    if not await is_installed(place):
        return
    shipped = await _shipped(place)
    found = await together(place.found(path) for path in shipped)
    wrong = False
    for item, stored in zip(shipped.values(), found, strict=True):
        if problem := _problem(item, stored):
            wrong = True
            yield fail("guards", problem, "run growth install to restore it")
    if not wrong:
        count = sum(item["kind"] == POLICY for item in shipped.values())
        yield ok("guards", f"the API server enforces growth's {count} policies")


async def _shipped(place: ExaminedCluster) -> dict[str, Any]:
    """The policies that every provider in use needs, and their bindings, by path."""
    several = [
        {object_path(item): item for item in items if item["kind"] in {POLICY, BINDING}}
        for items in (
            rendered(InstallationValues(provider=provider), namespace=place.namespace)
            for provider in await examined_providers(place)
        )
    ]
    first, *others = several
    return {path: item for path, item in first.items() if all(path in each for each in others)}


def _problem(item: dict[str, Any], stored: dict[str, Any] | None) -> str:
    title = f"{item['kind']} {item['metadata']['name']}"
    if stored is None:
        return f"{title} is missing"
    spec = stored.get("spec", {})
    if item["kind"] == POLICY:
        return "" if spec.get("failurePolicy") != "Ignore" else f"{title} ignores its own failures"
    if spec.get("policyName") != item["spec"]["policyName"]:
        return f"{title} is for another policy"
    return "" if "Deny" in spec.get("validationActions", ()) else f"{title} doesn't deny"
