"""User data from a template of the user, with variables such as $(growth.nodeName) filled in.

The set of variables is closed. A template in the class is checked when the class is admitted. A
template in a Secret is checked here each time, because it may change without the class.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from growth.api.hetznernodeclass_rules import (
    TEMPLATE_VARIABLES,
    VARIABLE,
    missing_variables,
    unknown_variables,
)
from growth.errors import Misconfigured
from reconciler.providers.hetzner.bootstrap.joining import kubelet_arguments

if TYPE_CHECKING:
    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer


def filled_in(joining: JoiningServer) -> str:
    """The template with all variables replaced."""
    _check(joining.template)
    values = _values(joining)
    used = set(VARIABLE.findall(joining.template))
    unset = sorted(name for name in used if values[name] is None)
    if unset:
        raise Misconfigured(
            f"bootstrap: the template uses {', '.join(unset)}, which the class doesn't set: set "
            "it in the class, or remove it from the template"
        )
    return VARIABLE.sub(lambda found: values[found[1]] or "", joining.template)


def uses_token(template: str) -> bool:
    """Whether the template uses the join token."""
    return "token" in VARIABLE.findall(template)


def _check(template: str) -> None:
    unknown, missing = unknown_variables(template), missing_variables(template)
    if unknown:
        raise Misconfigured(
            f"bootstrap: the template has $(growth.{unknown[0]}), which nothing fills in: use one "
            f"of {', '.join(TEMPLATE_VARIABLES)}"
        )
    if missing:
        raise Misconfigured(
            f"bootstrap: the template lacks $(growth.{missing[0]}): without it the node isn't "
            "found, or gets pods before it can serve them"
        )


def _values(joining: JoiningServer) -> dict[str, str | None]:
    bootstrap, order = joining.bootstrap, joining.order
    arguments = [f"--{name}={value}" for name, value in kubelet_arguments(joining).items()]
    return {
        "caHash": bootstrap.ca_hash,
        "cluster": joining.cluster,
        "kubeletArguments": shlex.join(arguments),
        "location": order.location,
        "nodeLabels": ",".join(f"{key}={value}" for key, value in joining.labels.items()),
        "nodeName": order.name,
        "nodeTaints": ",".join(joining.taints),
        "pool": order.pool,
        "server": bootstrap.server,
        "serverType": order.server_type.canonical,
        "token": joining.token,
        "version": bootstrap.version,
    }
