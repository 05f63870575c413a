"""Everything that a plan depends on, as a document, so that a bug report can be planned again.

It contains what `growth plan --from-cluster` reads, and the time at which it was read. A replay
uses that time, so nothing has expired that hadn't expired then.
"""

from __future__ import annotations

import json
import tarfile
import zlib
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pydantic
import yaml

from growth.cli.plan.cluster import OURS, Ours, SeenCluster
from growth.cli.plan.input_fields import fields_of, fields_of_ours
from growth.errors import Misconfigured
from growth.instant import Instant
from growth.scheduling import objects
from reconciler.providers.kwok.catalogue import types_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.cli.plan.prices import DataKey

INPUT: Final = "input.json"
VERSION: Final = 1
KINDS: Final[Mapping[str, type[Any]]] = {
    name: kind for name in objects.__all__ if isinstance(kind := getattr(objects, name), type)
}
MODELS: Final[Mapping[str, type[Ours]]] = {kind.__name__: kind for kind in OURS}
LARGEST: Final = 256 * 2**20
"""The most bytes that are read, so that a bundle from a stranger can't exhaust the memory."""


class Input(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A cluster at one moment, as text."""

    version: int = VERSION
    at: datetime
    objects: dict[str, list[Any]]
    """Objects of Kubernetes' own kinds, by kind."""
    resources: dict[str, list[Any]]
    """Objects of growth's kinds, by kind."""
    catalogues: list[dict[str, str]]
    """Catalogues in ConfigMaps: namespace, name, key and text."""


def input_of(seen: SeenCluster, at: datetime) -> Input:
    """The document for a cluster."""
    built_in: dict[str, list[Any]] = {}
    resources: dict[str, list[Any]] = {}
    for each in seen.objects:
        built_in.setdefault(type(each).__name__, []).append(fields_of(each))
    for one in seen.resources:
        resources.setdefault(type(one).__name__, []).append(fields_of_ours(one))
    return Input(at=at, objects=built_in, resources=resources, catalogues=list(_catalogues(seen)))


def _catalogues(seen: SeenCluster) -> Iterator[dict[str, str]]:
    """Only catalogues, because a ConfigMap can contain anything."""
    for (namespace, name, key), text in seen.config_maps.items():
        try:
            types = types_of(text, place=name)
        except Misconfigured:
            continue
        written = yaml.safe_dump([each.document() for each in types], sort_keys=False)
        yield {"namespace": namespace, "name": name, "key": key, "text": written}


def seen_of(given: Input) -> SeenCluster:
    """The cluster that a document describes."""
    return SeenCluster(
        objects=tuple(
            msgspec.convert(each, KINDS[kind])
            for kind, several in given.objects.items()
            for each in several
        ),
        resources=tuple(
            MODELS[kind].model_validate(each)
            for kind, several in given.resources.items()
            for each in several
        ),
        config_maps=dict(map(_catalogue, given.catalogues)),
        unreadable=(),
    )


def _catalogue(each: dict[str, str]) -> tuple[DataKey, str]:
    return (each["namespace"], each["name"], each["key"]), each["text"]


def open_bundle(path: str) -> tuple[SeenCluster, Instant]:
    """The contents of a bundle, and when it was made."""
    try:
        given = msgspec.json.decode(_content(path), type=Input)
        return seen_of(given), Instant(0.0, given.at)
    except (msgspec.MsgspecError, pydantic.ValidationError, KeyError) as error:
        first = str(error).splitlines()[0]
        raise Misconfigured(
            f"{path}: {INPUT} can't be read by this version of growth: {first}"
        ) from None


def _content(path: str) -> bytes:
    try:
        with tarfile.open(path, "r:gz") as bundle:
            found = next((each for each in bundle if each.name.endswith(f"/{INPUT}")), None)
            held = None if found is None else bundle.extractfile(found)
            if found is None or held is None or found.size > LARGEST:
                raise Misconfigured(f"{path}: not a bundle: it contains no {INPUT}")
            return held.read()
    except OSError as error:
        raise Misconfigured(f"{path}: {(error.strerror or 'not readable').lower()}") from None
    except (tarfile.TarError, EOFError, zlib.error):
        raise Misconfigured(f"{path}: not a bundle; create one with growth bundle") from None


def as_builtins(given: Input) -> Any:
    """The document as plain dicts and lists, which can be changed."""
    return json.loads(msgspec.json.encode(given))
