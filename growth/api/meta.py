"""What every object has: the part of Kubernetes' metadata that growth reads, and references.

Only the types of the metadata are checked here, because the API server owns it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from growth.api.bounds import Flag, Key, NamespaceName, ObjectName, Sentence, Word
from growth.api.conditions import ObjectStanding, ObjectVerdict
from growth.api.model import Model
from growth.api.wellknown import GROUP, GROUP_VERSION
from growth.api.written import Timestamp


class ResourceOwner(Model):
    """The object that this one is deleted with."""

    api_version: str
    """Group and version of the owner."""
    kind: str
    """Kind of the owner."""
    name: str
    """Name of the owner."""
    uid: str
    """UID of the owner. A new object with the same name isn't the owner."""
    controller: Flag = False
    """Whether the owner manages this object."""
    block_owner_deletion: Flag = False
    """Whether a foreground deletion of the owner waits for this object."""


def _is_empty(value: object) -> bool:
    return not value


class ObjectMeta(Model):
    """The part of Kubernetes' metadata that growth reads."""

    name: str = Field("", exclude_if=_is_empty)
    """Unique among the objects of its kind."""
    uid: str = Field("", exclude_if=_is_empty)
    """Assigned by the API server. Unlike a name, it is never used again."""
    resource_version: str = Field("", exclude_if=_is_empty)
    """Changes with every write."""
    generation: int = Field(0, exclude_if=_is_empty)
    """Counts the changes of the spec."""
    labels: Mapping[str, str] = Field(default_factory=dict, exclude_if=_is_empty)
    """Labels of the object itself."""
    annotations: Mapping[str, str] = Field(default_factory=dict, exclude_if=_is_empty)
    """Annotations of the object itself."""
    finalizers: tuple[str, ...] = Field((), exclude_if=_is_empty)
    """Finalizers that must be removed before the object is deleted."""
    owner_references: tuple[ResourceOwner, ...] = Field((), exclude_if=_is_empty)
    """Objects that this one is deleted with."""
    creation_timestamp: Timestamp | None = None
    """When the API server created it."""
    deletion_timestamp: Timestamp | None = None
    """When its deletion was requested."""


class NamespacedMeta(ObjectMeta):
    """The metadata of an object in a namespace."""

    namespace: str = Field("", exclude_if=_is_empty)
    """The namespace of the object."""


class PrinterColumn(NamedTuple):
    """A column of `kubectl get`."""

    heading: str
    type: str
    path: str
    """Path of the value."""


class ScalePaths(NamedTuple):
    """Where `kubectl scale` finds and sets the number of an object."""

    wanted: str
    """Path of the wanted number in the spec."""
    present: str
    """Path of the present number in the status."""
    selector: str
    """Path of the label selector of what is counted, as text."""


class CustomResource(Model):
    """A whole object; the kinds add spec and status."""

    kind_names: ClassVar[tuple[str, str, str]]
    """Plural, singular and short name, for the definition."""
    is_namespaced: ClassVar[bool] = False
    """Whether its objects are in namespaces."""
    columns: ClassVar[tuple[PrinterColumn, ...]] = ()
    """Columns of `kubectl get`, in addition to those of every kind."""
    scale: ClassVar[ScalePaths | None] = None
    """The scale subresource, if the kind has one."""

    api_version: str = GROUP_VERSION
    """Group and version of the object."""
    metadata: ObjectMeta = ObjectMeta()
    """Name, labels and other metadata."""

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @classmethod
    def collection(cls) -> str:
        """The path of all objects of this kind in the API."""
        return f"/apis/{GROUP_VERSION}/{cls.kind_names[0]}"

    @classmethod
    def definition_name(cls) -> str:
        """The name of its CustomResourceDefinition."""
        return f"{cls.kind_names[0]}.{GROUP}"


class KeyReference(Model):
    """One key in the data of a Secret or ConfigMap."""

    namespace: NamespaceName
    """Namespace of the Secret or ConfigMap."""
    name: ObjectName
    """Name of the Secret or ConfigMap."""
    key: Key
    """The key in its data."""


class PodReference(Model):
    """A pod, by name for people and by UID for certainty."""

    namespace: Annotated[str, Field(max_length=63)]
    """Namespace of the pod."""
    name: Annotated[str, Field(max_length=253)]
    """Name of the pod."""
    uid: Annotated[str, Field(max_length=64)]
    """UID of the pod. A pod recreated with the same name is another pod."""


class Blockage(Model):
    """Why an object can't do its work until a person changes something."""

    reason: Word
    """One word for programs."""
    message: Sentence
    """What is wrong, where, and how to fix it."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The object's state that follows."""
        return ObjectVerdict(ObjectStanding.FAILED, self.reason, self.message)
