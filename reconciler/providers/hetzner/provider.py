"""The provider for servers at Hetzner Cloud.

Nothing here waits for a server or decides about one. A create looks at a listing younger than its
intent and its last try before it asks. If the result of a create isn't known, the next try finds
the server by its name, our cluster's label and the request's uid. A delete uses the id, and only
touches servers of our cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog

from growth.api.hetznernodeclass import TokenSource
from growth.api.written import ServerTypeName
from growth.errors import GrowthError, Misconfigured
from reconciler.providers.hetzner import buying, catalogue, giving_back
from reconciler.providers.hetzner.bootstrap.joining import JoiningServer
from reconciler.providers.hetzner.bootstrap.rendering import needs_token, user_data
from reconciler.providers.hetzner.calls import ENDPOINT, CallFailed
from reconciler.providers.hetzner.claims import label_mistakes
from reconciler.providers.hetzner.finishing import finish
from reconciler.providers.hetzner.inventory import Resolved, Unresolved, resolve
from reconciler.providers.hetzner.project import HetznerProject
from reconciler.providers.port import (
    Checked,
    ClassKey,
    DeleteAnswer,
    DeleteOutcome,
    Failed,
    FailureClass,
    Listing,
    Order,
    ProviderTrouble,
    refused_create,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.api.hetznernodeclass import HetznerNodeClass
    from growth.api.meta import KeyReference
    from growth.instant import Instant
    from reconciler.providers.hetzner.metrics import HetznerMetrics
    from reconciler.providers.hetzner.project import Secrets
    from reconciler.providers.port import CreateAnswer, Machine, Offering


_log = structlog.get_logger(__name__)

SAMPLE: Final = Order(
    name="sample",
    request_uid="",
    pool="sample",
    node_class=ClassKey("HetznerNodeClass", "sample"),
    server_type=ServerTypeName.parse("cx23"),
    location="nbg1",
    own_labels={},
    labels={},
    annotations={},
    taints=(),
)
"""An order to test whether user data can be rendered."""


SHARED_FOR = 0.5
"""Seconds for which the node classes of a project share a listing."""


class HetznerCloud:
    """All Hetzner projects that one cluster uses."""

    def __init__(
        self,
        *,
        cluster: str,
        secrets: Secrets,
        now: Callable[[], Instant],
        metrics: HetznerMetrics,
        endpoint: str = ENDPOINT,
        doubted: Callable[[], None] = lambda: None,
        installation: Callable[[], str] = str,
    ) -> None:
        self.installation = installation
        """The id of this installation of growth; it may change while this process doesn't lead."""
        self.doubted = doubted
        """Called when the results of earlier checks of node classes may be outdated."""
        self.cluster = cluster
        self.secrets = secrets
        self.now = now
        self._metrics = metrics
        self._endpoint = endpoint
        self._projects: dict[KeyReference, HetznerProject] = {}
        self._last_problem = ""

    def provider(self, node_class: Callable[[], HetznerNodeClass | None]) -> HetznerProvider:
        """The port of one node class; it reads the class anew for each call."""
        return HetznerProvider(self, node_class)

    def project(self, reference: KeyReference) -> HetznerProject:
        """The project for the token in a Secret."""
        found = self._projects.get(reference)
        if found is None:
            found = self._projects[reference] = HetznerProject(
                reference=reference,
                secrets=self.secrets,
                cluster=self.cluster,
                now=self.now,
                metrics=self._metrics,
                endpoint=self._endpoint,
                replaced=self.doubted,
            )
        return found

    async def withdraw_join_tokens(self) -> None:
        """Delete join tokens that are no longer needed; failures are retried after each listing."""
        try:
            await self.secrets.withdraw_join_tokens()
        except GrowthError as error:
            if str(error) != self._last_problem:
                _log.warning("could not delete a join token", error=str(error))
            self._last_problem = str(error)

    async def close(self) -> None:
        """Close all connections."""
        for project in self._projects.values():
            await project.calls.close()


class HetznerProvider:
    """The port of one node class."""

    def __init__(
        self, cloud: HetznerCloud, node_class: Callable[[], HetznerNodeClass | None]
    ) -> None:
        self._cloud = cloud
        self._node_class = node_class

    async def offerings(self) -> tuple[Offering, ...]:
        """What the class can buy; nothing if a name in the class can't be resolved."""
        node_class = self._node_class()
        if node_class is None:
            return ()
        project = await self._project(node_class)
        resolved = await self._resolved(project, node_class)
        if isinstance(resolved, Unresolved):
            return ()
        return catalogue.hetzner_offerings(
            await project.catalogue(),
            node_class.spec,
            networks=resolved.networks,
            now=self._cloud.now().wall,
        )

    async def create(self, order: Order) -> CreateAnswer:
        """Find the server of this order, or create it."""
        answer = await self._found_or_bought(order)
        if isinstance(answer, Failed) and answer.failure is not FailureClass.TRANSIENT:
            # According to its last check the class can buy, so that check is outdated.
            self._cloud.doubted()
        return answer

    async def _found_or_bought(self, order: Order) -> CreateAnswer:
        node_class = self._node_class()
        if node_class is None:
            return refused_create(ProviderTrouble.TEMPLATE, reason="the node class is gone")
        try:
            project = await self._project(node_class)
        except Misconfigured as error:
            return refused_create(ProviderTrouble.FATAL, reason=str(error))
        try:
            found = await buying.find_server(project, order, now=self._cloud.now())
            return found or await self._bought(project, order, node_class)
        except CallFailed as failed:
            failure = failed.failure
            return refused_create(failure.trouble, reason=failure.reason, seconds=failure.seconds)
        except Misconfigured as error:
            return refused_create(ProviderTrouble.TEMPLATE, reason=str(error))

    async def list(self) -> Listing:
        """All servers of our cluster in the project of the class."""
        at, node_class = self._cloud.now(), self._node_class()
        if node_class is None:
            reason = "the node class is gone"
            return Listing(at=at, is_complete=False, reason=reason, machines={})
        try:
            project = await self._project(node_class)
            listing = await project.servers.listing(younger_than=at.monotonic - SHARED_FOR)
        except (CallFailed, Misconfigured) as error:
            return Listing(at=at, is_complete=False, reason=str(error), machines={})
        await finish(project, now=self._cloud.now())
        await project.tidy_now_and_then()
        await self._cloud.withdraw_join_tokens()
        return listing

    async def delete(self, machine: Machine) -> DeleteAnswer:
        """Delete a server if it is ours."""
        node_class = self._node_class()
        if node_class is None:
            return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason="the node class is gone")
        try:
            project = await self._project(node_class)
        except Misconfigured as error:
            return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=str(error))
        return await giving_back.give_back(project, machine, cluster=self._cloud.cluster)

    async def check(self) -> Checked:
        """Check whether servers can be bought for this class.

        Raises CallFailed for a temporary failure, which isn't a problem of the class.
        """
        node_class = self._node_class()
        if node_class is None:
            return _blocked(None, FailureClass.TEMPLATE, "the node class is gone", at=self._at)
        try:
            project = await self._project(node_class)
        except Misconfigured as error:
            return _blocked(node_class, FailureClass.FATAL, str(error), at=self._at)
        try:
            return await self._checked(project, node_class)
        except CallFailed as failed:
            trouble = failed.failure.trouble
            if trouble not in {ProviderTrouble.FATAL, ProviderTrouble.TEMPLATE}:
                raise
            return _blocked(node_class, FailureClass(trouble.value), str(failed), at=self._at)
        except Misconfigured as error:
            return _blocked(node_class, FailureClass.TEMPLATE, str(error), at=self._at)

    @property
    def _at(self) -> float:
        return self._cloud.now().monotonic

    async def _checked(self, project: HetznerProject, node_class: HetznerNodeClass) -> Checked:
        at = self._at
        # Everything else may come from a cache; only this call shows whether the token works now.
        await project.servers.listing(younger_than=at - SHARED_FOR)
        resolved = await self._resolved(project, node_class)
        await self._render_sample(node_class)
        if claimed := label_mistakes(node_class.spec.labels, where="spec.labels"):
            return _blocked(node_class, FailureClass.TEMPLATE, *claimed, at=at)
        if isinstance(resolved, Unresolved):
            project.read_soon_again(node_class)
            return _blocked(node_class, FailureClass.TEMPLATE, *resolved.problems, at=at)
        sold = await project.catalogue()
        found = {
            "placementGroups": [str(each) for each in project.groups.ids],
            "currency": sold.pricing.currency_code,
        }
        return Checked(
            at=at,
            generation=node_class.metadata.generation,
            doubts=project.doubts,
            found=resolved.as_status() | found,
        )

    async def _project(self, node_class: HetznerNodeClass) -> HetznerProject:
        project = self._cloud.project(node_class.spec.token_secret_ref)
        await project.refresh_token()
        return project

    async def _resolved(
        self, project: HetznerProject, node_class: HetznerNodeClass
    ) -> Resolved | Unresolved:
        return resolve(node_class.spec, await project.inventory(node_class))

    async def _bought(
        self, project: HetznerProject, order: Order, node_class: HetznerNodeClass
    ) -> CreateAnswer:
        # The check of the class doesn't see the labels of pools.
        if claimed := _claimed(order, node_class):
            return refused_create(ProviderTrouble.TEMPLATE, reason="; ".join(claimed))
        resolved = await self._resolved(project, node_class)
        if isinstance(resolved, Unresolved):
            return refused_create(ProviderTrouble.TEMPLATE, reason="; ".join(resolved.problems))
        architecture = (await project.catalogue()).architecture_of(order.server_type)
        if architecture not in resolved.images:
            reason = f"spec.images has no image that {order.server_type} can boot"
            return refused_create(ProviderTrouble.TEMPLATE, reason=reason)
        joining = await self._joining(order, node_class, resolved)
        wanted = buying.WantedServer(
            order=order,
            node_class=node_class,
            resolved=resolved,
            architecture=architecture,
            user_data=user_data(joining),
            token=joining.token,
            cluster=self._cloud.cluster,
            installation=self._cloud.installation(),
        )
        return await buying.buy(project, wanted)

    async def _joining(
        self, order: Order, node_class: HetznerNodeClass, resolved: Resolved
    ) -> JoiningServer:
        bootstrap = node_class.spec.bootstrap
        template = await self._template(node_class)
        token = ""
        if needs_token(bootstrap.kind, template):
            token = await self._token(order, node_class)
        return JoiningServer(
            order=order,
            bootstrap=bootstrap,
            cluster=self._cloud.cluster,
            token=token,
            template=template,
            network=next((network.id for network in resolved.networks), None),
        )

    async def _render_sample(self, node_class: HetznerNodeClass) -> None:
        bootstrap = node_class.spec.bootstrap
        template = await self._template(node_class)
        user_data(
            JoiningServer(
                order=SAMPLE, bootstrap=bootstrap, cluster=self._cloud.cluster, template=template
            )
        )

    async def _template(self, node_class: HetznerNodeClass) -> str:
        bootstrap = node_class.spec.bootstrap
        if bootstrap.template_secret_ref is not None:
            return await self._cloud.secrets.read(bootstrap.template_secret_ref)
        return bootstrap.template or ""

    async def _token(self, order: Order, node_class: HetznerNodeClass) -> str:
        bootstrap = node_class.spec.bootstrap
        if bootstrap.token_from is TokenSource.SECRET and bootstrap.token_secret_ref is not None:
            # A Secret that is created from a file often ends with a newline.
            return (await self._cloud.secrets.read(bootstrap.token_secret_ref)).strip()
        return await self._cloud.secrets.join_token(order, node_class)


def _claimed(order: Order, node_class: HetznerNodeClass) -> tuple[str, ...]:
    return (
        *label_mistakes(
            node_class.spec.labels, where=f"spec.labels of HetznerNodeClass {node_class.name}"
        ),
        *label_mistakes(order.labels, where=f"spec.labels of NodePool {order.pool}"),
    )


def _blocked(
    node_class: HetznerNodeClass | None, failure: FailureClass, *problems: str, at: float
) -> Checked:
    generation = node_class.metadata.generation if node_class is not None else 0
    return Checked(at=at, generation=generation, failure=failure, problems=problems)
