"""Helm charts, generated from the manifests: the same objects, with Helm templates in places.

There are two charts. Helm never upgrades definitions in a chart's `crds/`, and deletes definitions
that are ordinary templates together with the objects. So the definitions have their own chart, and
Helm is told to keep them.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import yaml

import growth
from growth.api import crd
from growth.api.installed import NAMESPACE
from growth.installation.places import PARTS, places_of, put
from growth.installation.rendering import digested, part_objects, renamed
from growth.installation.values import InstallationValues, schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from growth.installation.places import ManifestPart, When

_MARK: Final = re.compile(r"'?@@([A-Za-z.]+)(\|toString)?@@'?")
_WIDE: Final = 10_000
"""Lines aren't folded, because a template expression must stay in one piece."""


def charts() -> dict[str, str]:
    """File name in manifests/charts -> text."""
    return {**_chart_of_objects(), **_chart_of_definitions()}


def _chart_of_objects() -> dict[str, str]:
    texts = {
        "growth/Chart.yaml": _description("growth", "A node autoscaler for Kubernetes"),
        "growth/values.yaml": values_text(),
        "growth/values.schema.json": json.dumps(schema(), indent=2) + "\n",
    }
    words = digested(item for part in PARTS for item in part_objects(part))
    for part in PARTS:
        name = part.file.removesuffix(".yaml").replace("/", "-")
        texts[f"growth/templates/{name}.yaml"] = _template(part, words)
    return texts


def _chart_of_definitions() -> dict[str, str]:
    texts = {
        "growth-crds/Chart.yaml": _description(
            "growth-crds", "The definitions of growth's objects"
        ),
    }
    for file, definition in zip(crd.definition_files(), crd.definitions().values(), strict=True):
        keep = {"annotations": {"helm.sh/resource-policy": "keep"}}
        metadata = {**definition["metadata"], **keep}
        texts[f"growth-crds/templates/{file}"] = _escaped(
            _yaml({**definition, "metadata": metadata})
        )
    return texts


def _description(name: str, purpose: str) -> str:
    return _yaml(
        {
            "apiVersion": "v2",
            "name": name,
            "description": purpose,
            "type": "application",
            "version": growth.__version__,
            "appVersion": growth.__version__,
            "kubeVersion": ">=1.31.0-0",
        }
    )


def values_text() -> str:
    """The defaults, each below its description."""
    blocks = []
    for name, value in InstallationValues().document().items():
        [field] = [each for each in InstallationValues.model_fields.values() if each.alias == name]
        lines = " ".join((field.description or "").split())
        blocks.append(f"# {lines}\n{_yaml({name: value})}")
    return "\n".join(blocks)


def _template(part: ManifestPart, words: Mapping[str, str]) -> str:
    items = list(part_objects(part))
    for item in items:
        for place in places_of(item):
            text = "|toString" if place.is_text else ""
            put(item, place.path, f"@@{place.value}{text}@@")
    text = _escaped("---\n".join(_yaml(renamed(item, words)) for item in items))
    filled = _MARK.sub(_value, text)
    return _within(part.when, filled.replace(NAMESPACE, "{{ .Release.Namespace }}"))


def _value(mark: re.Match[str]) -> str:
    # A number in the values is a number, but a variable of a container is always text.
    text = " | toString" if mark[2] else ""
    return f"{{{{ .Values.{mark[1]}{text} | toJson }}}}"


def _within(when: Sequence[When], text: str) -> str:
    if not when:
        return text
    all_true = [f"eq .Values.{each.value} {json.dumps(each.equals)}" for each in when]
    condition = all_true[0] if len(all_true) == 1 else f"and ({') ('.join(all_true)})"
    return f"{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"


def _escaped(text: str) -> str:
    """Prometheus expressions that look like Helm's."""
    return text.replace("{{", "{{`{{`}}")


def _yaml(document: Any) -> str:
    text: str = yaml.safe_dump(document, sort_keys=False, width=_WIDE, allow_unicode=True)
    return text
