"""A kind as a cache sees it: its path, the decoder of its objects, and its indexes.

The cache doesn't know any kind. Built-in kinds are small structs, custom resources are the models
of `growth.api`; both have a decoder, a function from the JSON of one object to its value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping


class KubernetesObject(Protocol):
    """An object with metadata: name, uid, resource_version, and a namespace if it has one."""

    @property
    def metadata(self) -> Any:
        """Its metadata; the type differs between built-in kinds and custom resources."""


T = TypeVar("T", bound=KubernetesObject)


class Key(NamedTuple):
    """The namespace and name of an object; the namespace is "" if it is cluster-scoped."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Index(Generic[T]):
    """A way to find objects by values other than their name."""

    name: str
    values: Callable[[T], Iterable[Hashable]]
    """The values of an object; a pure function."""


@dataclass(frozen=True, kw_only=True)
class WatchedResource(Generic[T]):
    """A kind, and which of its objects are watched."""

    path: str
    """The path, such as `/api/v1/pods`, or one within a namespace."""
    decode: Callable[[bytes], T]
    indexes: tuple[Index[T], ...] = ()
    query: Mapping[str, str] = field(default_factory=dict)
    """Selectors, such as `{"fieldSelector": "type=x"}`."""

    @property
    def name(self) -> str:
        """The plural name, for logs and metrics."""
        return self.path.rsplit("/", 1)[-1]


def key_of(obj: KubernetesObject) -> Key:
    """The key of an object."""
    metadata = obj.metadata
    return Key(getattr(metadata, "namespace", ""), metadata.name)
