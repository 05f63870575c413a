"""One kind as a cache sees it: where it is served, how an object is decoded, by what it is found.

The cache knows no kind. Built-in ones come as small structs, custom resources as the models of
`growth.api`; both go through the same door, a function from the JSON of one object to its value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping


class KubernetesObject(Protocol):
    """Anything with metadata: name, uid, resource_version, and a namespace where it has one."""

    @property
    def metadata(self) -> Any:
        """A struct or a model of its own for each family of kinds, hence no common type."""


T = TypeVar("T", bound=KubernetesObject)


class Key(NamedTuple):
    """Where an object lives; the namespace of cluster-scoped ones is empty."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Index(Generic[T]):
    """A way to find objects: the values under which each one is to be found."""

    name: str
    values: Callable[[T], Iterable[Hashable]]
    """A pure function of the object."""


@dataclass(frozen=True, kw_only=True)
class WatchedResource(Generic[T]):
    """A kind and the part of it that is watched."""

    path: str
    """As `/api/v1/pods`, or within one namespace."""
    decode: Callable[[bytes], T]
    indexes: tuple[Index[T], ...] = ()
    query: Mapping[str, str] = field(default_factory=dict)
    """Selectors, as `{"fieldSelector": "type=x"}`."""

    @property
    def name(self) -> str:
        """The plural, for logs and metrics."""
        return self.path.rsplit("/", 1)[-1]


def key_of(obj: KubernetesObject) -> Key:
    """Where this object lives."""
    metadata = obj.metadata
    return Key(getattr(metadata, "namespace", ""), metadata.name)
