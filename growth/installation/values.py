"""The options of an installation. Helm's values and `--values` are the same file.

There are few on purpose: use kustomize to change anything else. Unknown names are errors, because a
typing mistake would otherwise go unnoticed.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

import growth
from growth.api.deletion_cost import PodDeletionCost
from growth.api.joining import JoinApproval
from growth.api.nodepool import PoolMode
from growth.api.problems import written_path
from growth.errors import Misconfigured
from growth.service.settings import LogLevel, MetricsAccess

Quantity = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$", max_length=20)]
Image = Annotated[str, Field(pattern=r"^[a-z0-9][a-zA-Z0-9._/:@-]*$", max_length=300)]


class ProviderChoice(StrEnum):
    """The provider of machines."""

    HETZNER = "hetzner"
    KWOK = "kwok"


class SchedulerChoice(StrEnum):
    """Which scheduler calls the extender."""

    OWN = "Own"
    SECOND = "Second"


class Admission(StrEnum):
    """How pods are admitted."""

    WEBHOOK = "Webhook"
    POLICY = "Policy"
    NONE = "None"


class CertificatesChoice(StrEnum):
    """What manages the certificates."""

    MANAGED = "managed"
    EXTERNAL = "external"


class _Part(BaseModel):
    """A part of the values."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        use_attribute_docstrings=True,
    )


class ImageValues(_Part):
    """The images of growth's pods."""

    servers: Image = f"growth-servers:{growth.__version__}"
    """Image of the webhooks, the extender and growth-certs."""
    reconciler: Image = f"growth-reconciler:{growth.__version__}"
    """Image of the reconciler, which contains the optimiser."""
    scheduler: Image = "registry.k8s.io/kube-scheduler:v1.36.3"
    """Image of the second scheduler. Use your cluster's version."""


class PullSecret(_Part):
    """A Secret with the password of a registry."""

    name: Annotated[str, Field(max_length=253)]


class ReplicaValues(_Part):
    """Replicas of each process. One of the reconcilers leads."""

    reconciler: Annotated[int, Field(ge=0, le=5)] = 2
    webhooks: Annotated[int, Field(ge=0, le=20)] = 2
    scheduler: Annotated[int, Field(ge=0, le=5)] = 2


class Requests(_Part):
    """Resource requests of a container."""

    cpu: Quantity
    memory: Quantity


class LimitValues(_Part):
    """Resource limits of a container. CPU isn't limited, because throttling doesn't help."""

    memory: Quantity


class ResourceValues(_Part):
    """Resources of a container."""

    requests: Requests
    limits: LimitValues


def _resources(cpu: str, memory: str, most: str) -> ResourceValues:
    requests = Requests(cpu=cpu, memory=memory)
    return ResourceValues(requests=requests, limits=LimitValues(memory=most))


class ContainerResources(_Part):
    """Resources of each process."""

    reconciler: ResourceValues = _resources("200m", "512Mi", "2Gi")
    webhooks: ResourceValues = _resources("50m", "96Mi", "512Mi")
    extender: ResourceValues = _resources("100m", "160Mi", "512Mi")
    certs: ResourceValues = _resources("10m", "64Mi", "256Mi")


class InstallationValues(_Part):
    """The options of an installation."""

    provider: ProviderChoice = ProviderChoice.HETZNER
    """The provider of machines: hetzner or kwok."""
    scheduler: SchedulerChoice = SchedulerChoice.OWN
    """Own: the extender runs beside your kube-scheduler. Second: growth installs a second
    scheduler, for clusters whose scheduler can't be configured."""
    admission: Admission = Admission.WEBHOOK
    """Webhook: the API server calls a webhook. Policy: the API server changes pods without a
    webhook; Kubernetes 1.36 or newer. None: pods are admitted unchanged; required where growth only
    observes."""
    mode: PoolMode = PoolMode.ACT
    """Act: growth does what each pool's spec.mode says. Observe: growth buys nothing and gives
    nothing back in any pool, and only reports what it would do."""
    max_nodes_per_hour: Annotated[int, Field(ge=0, le=1_000_000)] = 100
    """Maximum number of nodes bought within an hour for all pools together, so that a mistake in a
    manifest can't become expensive. Raise it if that is too few for your cluster."""
    pod_deletion_cost: PodDeletionCost = PodDeletionCost.UNTOUCHED
    """ByNode: growth annotates pods on its nodes, so that scaling a workload down empties one node
    after another. Its reconciler may then patch pods, but a policy allows only this annotation.
    Untouched: it doesn't."""
    certificates: CertificatesChoice = CertificatesChoice.MANAGED
    """managed: growth manages the certificates of its processes. external: another program does."""
    join_approval: JoinApproval = JoinApproval.CLUSTER
    """What approves the certificates of machines that join with kubeadm. Cluster: Kubernetes, under
    any name. Growth: growth-certs, only for the machine that a join token was made for; needs
    provider hetzner and managed certificates."""
    log_level: LogLevel = LogLevel.INFO
    """The least important level that is logged."""
    metrics_access: MetricsAccess = MetricsAccess.AUTHENTICATED
    """Who may read /metrics. loopback: callers on the same machine. authenticated: also others,
    with a token whose owner may get the path /metrics. open: everyone."""
    images: ImageValues = ImageValues()
    """The images of growth's pods."""
    image_pull_secrets: Annotated[tuple[PullSecret, ...], Field(max_length=10)] = ()
    """Secrets with registry credentials."""
    replicas: ReplicaValues = ReplicaValues()
    """Replicas of each process."""
    resources: ContainerResources = ContainerResources()
    """Resources of each process."""
    network_policies: bool = True
    """Whether NetworkPolicies restrict traffic to what growth needs."""
    monitoring: bool = False
    """Whether to create a ServiceMonitor, a PrometheusRule and a dashboard. Needs the Prometheus
    operator."""

    @field_validator("join_approval")
    @classmethod
    def _has_an_approver(cls, value: JoinApproval, info: ValidationInfo) -> JoinApproval:
        """Otherwise no machine could join. Helm checks the same by the schema."""
        others = (ProviderChoice.HETZNER, CertificatesChoice.MANAGED)
        known = (info.data.get("provider"), info.data.get("certificates"))
        if value is JoinApproval.GROWTH and known != others:
            text = "Growth needs provider: hetzner and certificates: managed"
            raise PydanticCustomError("no_approver", text)
        return value

    @classmethod
    def parse(cls, text: str, *, place: str) -> Self:
        """The values of a file, or one line for each mistake."""
        try:
            content = yaml.safe_load(text)
        except yaml.YAMLError as error:
            problem = " ".join(str(error).split())
            raise Misconfigured(f"{place}: not valid YAML: {problem}") from None
        if not isinstance(content, dict | None):
            raise Misconfigured(f"{place}: expected names and values, such as provider: kwok")
        try:
            return cls.model_validate(content or {}, by_name=False)
        except ValidationError as error:
            lines = [f"{place}: {_spoken(each)}" for each in error.errors(include_url=False)]
            raise Misconfigured("\n".join(lines)) from None

    def document(self) -> dict[str, Any]:
        """As plain values, for Helm."""
        return self.model_dump(mode="json", by_alias=True)


def schema() -> dict[str, Any]:
    """The schema by which Helm checks values."""
    made = InstallationValues.model_json_schema(by_alias=True)
    made["if"] = {"properties": {"joinApproval": {"const": JoinApproval.GROWTH.value}}}
    made["then"] = {
        "properties": {
            "provider": {"const": ProviderChoice.HETZNER.value},
            "certificates": {"const": CertificatesChoice.MANAGED.value},
        }
    }
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    # Helm adds these to the values of every chart.
    made["properties"]["global"] = {"type": "object"}
    return made


def _spoken(error: Any) -> str:
    where = written_path(tuple(error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{where}: no such value; see growth install --help"
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}"
