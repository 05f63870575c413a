"""The settings of processes, each declared once: name, type, default and description.

A process adds its own settings in a subclass of `ServiceSettings`. Everything else is derived from
the field: the flag (--log-level), the variable (GROWTH_LOG_LEVEL), the key in the file (log-level),
the help and the validation. All sources provide text, which is parsed in one way. So
`--shutdown-limit 5s` and `shutdown-limit: 5s` can't mean different things.

No field may end with `_host` or `_port`: for a Service whose name begins with growth, Kubernetes
sets variables such as GROWTH_..._SERVICE_PORT in all pods of its namespace.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, FilePath, PlainValidator, SecretStr

from growth.api.written import Duration, between
from growth.service.address import Address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo


class LogLevel(StrEnum):
    """Log levels, from the most to the least verbose."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogForm(StrEnum):
    """The format of the log."""

    AUTO = "auto"
    JSON = "json"
    CONSOLE = "console"


class MetricsAccess(StrEnum):
    """Who may read metrics; each includes the one before."""

    LOOPBACK = "loopback"
    AUTHENTICATED = "authenticated"
    OPEN = "open"


@dataclass(frozen=True)
class Listed:
    """The section of a setting in the help, and the name of its value."""

    section: str
    value: str


MetricsAddress = Annotated[Address, PlainValidator(Address.parse), Listed("Endpoints", "HOST:PORT")]
"""The only shared setting whose default differs by process, because they may share a host."""


class ServiceSettings(BaseModel):
    """The settings that all processes share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics_address: MetricsAddress
    """Plain HTTP address for /metrics, /healthz and /readyz. Without a host: all interfaces. Port
    0: a free port, which the log names."""

    metrics_access: Annotated[MetricsAccess, Listed("Endpoints", "WHO")] = (
        MetricsAccess.AUTHENTICATED
    )
    """Who may read /metrics. loopback: callers on this machine. authenticated: also others, with a
    token whose owner may get the path /metrics in this cluster. open: everyone. Health is shown to
    everyone."""

    log_level: Annotated[LogLevel, Listed("Logs", "LEVEL")] = LogLevel.INFO
    """The least important level that is logged: debug, info, warning or error. Libraries never log
    more than info."""

    log_form: Annotated[LogForm, Listed("Logs", "FORM")] = LogForm.AUTO
    """Format of the log: json, console, or auto (console on a terminal, otherwise json)."""

    kubeconfig: Annotated[FilePath | None, Listed("Kubernetes", "FILE")] = None
    """The kubeconfig file. Default: the pod's service account in a cluster, otherwise the file that
    kubectl uses ($KUBECONFIG, or ~/.kube/config)."""

    context: Annotated[str | None, Listed("Kubernetes", "NAME")] = None
    """The context in the kubeconfig. Default: its current context."""

    shutdown_limit: Annotated[Duration, between("100ms", "1h"), Listed("Process", "DURATION")] = (
        Duration.parse("5s")
    )
    """Maximum time from SIGTERM or SIGINT to the end of the process. Tasks that haven't ended by
    then are named in the log and abandoned. Keep it below the pod's
    terminationGracePeriodSeconds."""


SettingsT = TypeVar("SettingsT", bound=ServiceSettings)


@dataclass(frozen=True)
class DeclaredSetting:
    """A setting with its names in all sources."""

    field: str
    information: FieldInfo

    @property
    def key(self) -> str:
        """Its name in the file."""
        return self.field.replace("_", "-")

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.key}"

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"GROWTH_{self.field.upper()}"

    @property
    def secret(self) -> bool:
        """Whether its value is never shown."""
        return self.information.annotation in {SecretStr, SecretStr | None}

    @property
    def listed(self) -> Listed:
        """Its section and value in the help."""
        return next(mark for mark in self.information.metadata if isinstance(mark, Listed))


def declared_settings(settings: type[ServiceSettings]) -> Iterator[DeclaredSetting]:
    """All settings of a process, in the order of declaration."""
    for field, information in settings.model_fields.items():
        yield DeclaredSetting(field, information)
