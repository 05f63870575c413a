"""Does each process have the rights it needs? The API server is asked about each one.

What a process needs is what its shipped roles grant. A test ensures that each of those rights is
used, and that no other is needed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from growth.api.installed import CERTS, EXTENDER, RECONCILER, WEBHOOKS
from growth.api.kinds import NODE_CLASSES
from growth.cli.cluster.lists import together
from growth.cli.doctor.examination.finding import PATIENCE, fail, ok
from growth.cli.doctor.examination.processes import WEBHOOK, installed_workload, is_installed
from growth.installation.rendering import rendered
from growth.installation.rights import rights_of
from growth.installation.values import Admission, InstallationValues, ProviderChoice

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Findings
    from growth.installation.rights import Right

REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
AT_ONCE: Final = 16
SHOWN: Final = 3


async def examine_rights(place: ExaminedCluster) -> Findings:
    """A finding for each process that lacks rights, or one for all."""
    if not await is_installed(place):
        return
    needed = await _needed(place)
    limit, count = asyncio.Semaphore(AT_ONCE), 0
    for account, rights in needed.items():
        answers = await together(_is_allowed(place, account, each, limit) for each in rights)
        lacking = sorted(
            _spoken(right) for right, allowed in zip(rights, answers, strict=True) if not allowed
        )
        if lacking:
            count += 1
            more = f", and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
            text = f"{account} isn't allowed to {', '.join(lacking[:SHOWN])}{more}"
            yield fail("rights", text, "run growth install to restore its roles and bindings")
    if not count:
        total = sum(len(rights) for rights in needed.values())
        yield ok("rights", f"each process has the rights it needs ({total} checked)")


async def _needed(place: ExaminedCluster) -> dict[str, set[Right]]:
    admission = Admission.POLICY if await place.found(WEBHOOK) is None else Admission.WEBHOOK
    items = [
        rendered(
            InstallationValues(provider=provider, admission=admission), namespace=place.namespace
        )
        for provider in await examined_providers(place)
    ]
    accounts = [RECONCILER, EXTENDER]
    if admission is Admission.WEBHOOK:
        accounts.append(WEBHOOKS)
    if await installed_workload(place, CERTS) is not None:
        accounts.append(CERTS)
    return {
        account: set.intersection(*(rights_of(account, each) for each in items))
        for account in accounts
    }


async def examined_providers(place: ExaminedCluster) -> list[ProviderChoice]:
    """The providers of the node classes; without any class, all providers."""
    found = [
        ProviderChoice(model.provider)
        for model in NODE_CLASSES.values()
        if await place.some(model.collection(), most=1)
    ]
    return found[:1] or list(ProviderChoice)


async def _is_allowed(
    place: ExaminedCluster, account: str, right: Right, limit: asyncio.Semaphore
) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "namespace": right.namespace,
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "name": right.name,
    }
    accounts = f"system:serviceaccounts:{place.namespace}"
    spec = {
        "user": f"system:serviceaccount:{place.namespace}:{account}",
        "groups": ["system:serviceaccounts", accounts, "system:authenticated"],
        "resourceAttributes": attributes,
    }
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": spec,
    }
    async with limit:
        answer = await place.connection.request("POST", REVIEWS, body=body, timeout=PATIENCE)
    return bool(answer.json()["status"].get("allowed"))


def _spoken(right: Right) -> str:
    return " ".join(filter(None, (right.verb, right.resource, right.name)))
