"""Our objects are held by one finalizer, until what hangs on them is dealt with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.wellknown import PROVIDER_CLEANUP_FINALIZER
from reconciler.core.actions import SetFinalizers, version_of

if TYPE_CHECKING:
    from growth.api.meta import CustomResource


def has_our_finalizer(resource: CustomResource) -> bool:
    """Whether one of our objects waits for us before it can disappear."""
    return PROVIDER_CLEANUP_FINALIZER in resource.metadata.finalizers


def held(resource: CustomResource) -> SetFinalizers:
    """Add the finalizer, because something depends on the object."""
    return _with(resource, (*resource.metadata.finalizers, PROVIDER_CLEANUP_FINALIZER))


def let_go(resource: CustomResource) -> SetFinalizers:
    """Remove the finalizer, because nothing depends on the object any more."""
    others = (each for each in resource.metadata.finalizers if each != PROVIDER_CLEANUP_FINALIZER)
    return _with(resource, tuple(others))


def _with(resource: CustomResource, finalizers: tuple[str, ...]) -> SetFinalizers:
    return SetFinalizers(
        kind=type(resource).__name__, version=version_of(resource), finalizers=finalizers
    )
