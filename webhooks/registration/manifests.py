"""The manifests of both registrations as text, for manifests/base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from typing_extensions import override

from webhooks.registration.policy import binding, policy
from webhooks.registration.webhook import configuration

if TYPE_CHECKING:
    from collections.abc import Iterable


def registration_files() -> dict[str, str]:
    """File name -> YAML."""
    return {
        "webhook.yaml": _text(configuration()),
        "admission-policy.yaml": _text(policy(), binding()),
    }


def _text(*documents: Any) -> str:
    return "---\n".join(_yaml(documents))


def _yaml(documents: Iterable[Any]) -> Iterable[str]:
    for document in documents:
        yield yaml.dump(document, Dumper=_Plain, sort_keys=False, width=100, allow_unicode=True)


class _Plain(yaml.SafeDumper):
    """Without anchors, and expressions of several lines as they are written."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        return True


def _scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Plain.add_representer(str, _scalar)
