"""What a person may choose about an installation; Helm's values and `--values` are the same file.

Few things on purpose: what isn't here is changed with kustomize. Unknown names are mistakes, or a
typing error would go unnoticed until it matters.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

import growth
from growth.api.problems import written_path
from growth.errors import Misconfigured
from growth.service.settings import LogLevel

Quantity = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$", max_length=20)]
Image = Annotated[str, Field(pattern=r"^[a-z0-9][a-zA-Z0-9._/:@-]*$", max_length=300)]


class ProviderChoice(StrEnum):
    """Where machines come from."""

    HETZNER = "hetzner"
    KWOK = "kwok"


class SchedulerChoice(StrEnum):
    """Who asks the extender."""

    OWN = "Own"
    SECOND = "Second"


class Admission(StrEnum):
    """How pods are admitted."""

    WEBHOOK = "Webhook"
    POLICY = "Policy"


class CertificatesChoice(StrEnum):
    """Who keeps the certificates."""

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
    """What the pods run."""

    servers: Image = f"growth-servers:{growth.__version__}"
    """Of webhooks and extender."""
    reconciler: Image = f"growth-reconciler:{growth.__version__}"
    """Of the reconciler, with the optimiser in it."""
    scheduler: Image = "registry.k8s.io/kube-scheduler:v1.36.3"
    """Of the second scheduler; of your cluster's version."""


class PullSecret(_Part):
    """A Secret with the password of a registry."""

    name: Annotated[str, Field(max_length=253)]


class ReplicaValues(_Part):
    """How many of each; one of the reconcilers leads."""

    reconciler: Annotated[int, Field(ge=0, le=5)] = 2
    webhooks: Annotated[int, Field(ge=0, le=20)] = 2
    scheduler: Annotated[int, Field(ge=0, le=5)] = 2


class Requests(_Part):
    """What the scheduler sets aside."""

    cpu: Quantity
    memory: Quantity


class LimitValues(_Part):
    """What a container may not exceed; CPU is not limited, as throttling helps nobody."""

    memory: Quantity


class ResourceValues(_Part):
    """Of one container."""

    requests: Requests
    limits: LimitValues


def _resources(cpu: str, memory: str, most: str) -> ResourceValues:
    requests = Requests(cpu=cpu, memory=memory)
    return ResourceValues(requests=requests, limits=LimitValues(memory=most))


class ContainerResources(_Part):
    """Of each process."""

    reconciler: ResourceValues = _resources("200m", "512Mi", "2Gi")
    webhooks: ResourceValues = _resources("50m", "96Mi", "512Mi")
    extender: ResourceValues = _resources("100m", "96Mi", "512Mi")


class InstallationValues(_Part):
    """Everything that can be chosen."""

    provider: ProviderChoice = ProviderChoice.HETZNER
    """Where machines come from: hetzner or kwok."""
    scheduler: SchedulerChoice = SchedulerChoice.OWN
    """Own: the extender runs beside your kube-scheduler. Second: growth brings a scheduler, too,
    for clusters whose own can't be configured."""
    admission: Admission = Admission.WEBHOOK
    """Webhook: a process is asked. Policy: the API server decides alone; Kubernetes 1.36 or
    newer."""
    certificates: CertificatesChoice = CertificatesChoice.MANAGED
    """managed: growth keeps the certificates of its processes. external: somebody else does."""
    log_level: LogLevel = LogLevel.INFO
    """The least important lines that are written."""
    images: ImageValues = ImageValues()
    """What the pods run."""
    image_pull_secrets: Annotated[tuple[PullSecret, ...], Field(max_length=10)] = ()
    """Secrets with passwords of registries."""
    replicas: ReplicaValues = ReplicaValues()
    """How many of each process."""
    resources: ContainerResources = ContainerResources()
    """What each process gets."""
    network_policies: bool = True
    """Whether traffic is held to what is needed."""
    monitoring: bool = False
    """Whether a ServiceMonitor, a PrometheusRule and a dashboard are made; they need the
    Prometheus operator."""

    @classmethod
    def parse(cls, text: str, *, place: str) -> Self:
        """The values of a file, or one line for each mistake."""
        try:
            content = yaml.safe_load(text)
        except yaml.YAMLError as error:
            problem = " ".join(str(error).split())
            raise Misconfigured(f"{place}: this is no YAML: {problem}") from None
        if not isinstance(content, dict | None):
            raise Misconfigured(f"{place}: names and values are expected, as in provider: kwok")
        try:
            return cls.model_validate(content or {}, by_name=False)
        except ValidationError as error:
            lines = [f"{place}: {_spoken(each)}" for each in error.errors(include_url=False)]
            raise Misconfigured("\n".join(lines)) from None

    def document(self) -> dict[str, Any]:
        """As Helm knows them."""
        return self.model_dump(mode="json", by_alias=True)


def schema() -> dict[str, Any]:
    """What Helm checks values by."""
    made = InstallationValues.model_json_schema(by_alias=True)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    # Helm puts these into every chart's values.
    made["properties"]["global"] = {"type": "object"}
    return made


def _spoken(error: Any) -> str:
    where = written_path(tuple(error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{where}: there is no such value; see growth install --help"
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}"
