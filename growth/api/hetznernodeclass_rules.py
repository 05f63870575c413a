"""The rules between the fields of a HetznerNodeClass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from growth.api.rule_patterns import no_labels_below, no_reserved_labels
from growth.api.rules import AnyRule, ModelRule, Rule, RuleBreach, holds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.hetznernodeclass import Bootstrap, HetznerNodeClassSpec, ServerImages

MINTED: Final = "Minted"
_PUBLIC: Final = "self.publicIPv4 || self.publicIPv6"
_BY_ADDRESS: Final = "self.kind in ['K3s', 'Kubeadm']"

TEMPLATE_VARIABLES: Final = (
    "caHash",
    "cluster",
    "kubeletArguments",
    "location",
    "nodeLabels",
    "nodeName",
    "nodeTaints",
    "pool",
    "server",
    "serverType",
    "token",
    "version",
)
"""All variables that custom user data may use."""
NEEDED_VARIABLES: Final = ("nodeName", "nodeLabels", "nodeTaints")
"""Without these, the node isn't found, or gets pods before it can serve them."""
VARIABLE: Final = re.compile(r"\$\(growth\.([^()\s]*)\)")


def unknown_variables(template: str) -> list[str]:
    """Variables in user data that don't exist."""
    return sorted(set(VARIABLE.findall(template)).difference(TEMPLATE_VARIABLES))


def missing_variables(template: str) -> list[str]:
    """Variables that user data requires but doesn't contain."""
    used = set(VARIABLE.findall(template))
    return [name for name in NEEDED_VARIABLES if name not in used]


def _some_image(images: ServerImages) -> bool:
    return images.x86 is not None or images.arm is not None


SOME_IMAGE: Final = Rule(
    cel="has(self.x86) || has(self.arm)",
    text="images is empty: set x86, arm or both",
    breaches=holds(_some_image),
)


def _network_or_public(spec: HetznerNodeClassSpec) -> bool:
    return spec.public_ipv4 or spec.public_ipv6 or bool(spec.networks)


def _firewall_has_address(spec: HetznerNodeClassSpec) -> bool:
    return spec.public_ipv4 or spec.public_ipv6 or not spec.firewalls


def _subnet_has_network(spec: HetznerNodeClassSpec) -> bool:
    return spec.subnet is None or bool(spec.networks)


SPEC: Final[tuple[AnyRule, ...]] = (
    Rule(
        cel=f"{_PUBLIC} || (has(self.networks) && self.networks.size() > 0)",
        text=(
            "networks, publicIPv4 and publicIPv6 are all unset, so servers would have no address: "
            "set at least one"
        ),
        breaches=holds(_network_or_public, at=("networks",)),
    ),
    Rule(
        cel=f"{_PUBLIC} || !has(self.firewalls) || self.firewalls.size() == 0",
        text=(
            "firewalls apply to public addresses only, and servers have none: remove firewalls, "
            "or set publicIPv4 or publicIPv6"
        ),
        breaches=holds(_firewall_has_address, at=("firewalls",)),
    ),
    Rule(
        cel="!has(self.subnet) || (has(self.networks) && self.networks.size() > 0)",
        text="subnet needs its network: add it to networks",
        breaches=holds(_subnet_has_network, at=("subnet",)),
    ),
    no_reserved_labels("labels"),
    no_labels_below("hetzner.cloud/", at="labels", owner="are reserved by Hetzner"),
)


def _joins_by_address(bootstrap: Bootstrap) -> bool:
    return bootstrap.kind in {"K3s", "Kubeadm"}


def _server_given(bootstrap: Bootstrap) -> bool:
    return bootstrap.server is not None or not _joins_by_address(bootstrap)


def _server_is_url(bootstrap: Bootstrap) -> bool:
    server = bootstrap.server
    return bootstrap.kind != "K3s" or server is None or server.startswith("https://")


def _server_is_endpoint(bootstrap: Bootstrap) -> bool:
    server = bootstrap.server
    return bootstrap.kind != "Kubeadm" or server is None or "://" not in server


def _hash_given(bootstrap: Bootstrap) -> bool:
    return bootstrap.kind != "Kubeadm" or bootstrap.ca_hash is not None


def _token_given(bootstrap: Bootstrap) -> bool:
    return bootstrap.token_from == MINTED or bootstrap.token_secret_ref is not None


def _token_used(bootstrap: Bootstrap) -> bool:
    return bootstrap.token_from != MINTED or bootstrap.token_secret_ref is None


def _templates(bootstrap: Bootstrap) -> int:
    given = (bootstrap.template, bootstrap.template_secret_ref)
    return sum(each is not None for each in given)


def _template_given(bootstrap: Bootstrap) -> bool:
    return bootstrap.kind != "Custom" or _templates(bootstrap) == 1


def _configuration_given(bootstrap: Bootstrap) -> bool:
    return bootstrap.kind != "Talos" or bootstrap.template_secret_ref is not None


def _template_used(bootstrap: Bootstrap) -> bool:
    return not _joins_by_address(bootstrap) or _templates(bootstrap) == 0


def _template_complete(bootstrap: Bootstrap) -> bool:
    if bootstrap.kind != "Custom" or bootstrap.template is None:
        return True
    return not missing_variables(bootstrap.template)


def _unknown_variables(bootstrap: Bootstrap) -> Iterable[RuleBreach]:
    if bootstrap.kind == "Custom" and bootstrap.template is not None:
        for name in unknown_variables(bootstrap.template):
            yield RuleBreach(at=("template",), words={"name": name})


def _valueless_variables(bootstrap: Bootstrap) -> Iterable[RuleBreach]:
    """Variables that the template uses but the class doesn't set."""
    used = set(VARIABLE.findall(bootstrap.template or ""))
    given = {
        "server": bootstrap.server,
        "caHash": bootstrap.ca_hash,
        "version": bootstrap.version,
    }
    for name, value in given.items():
        if bootstrap.kind == "Custom" and name in used and value is None:
            yield RuleBreach(at=("template",), words={"name": name})


def _rule(field: str, cel: str, text: str, condition: Any) -> Rule:
    return Rule(cel=cel, text=text, breaches=holds(condition, at=(field,)))


BOOTSTRAP: Final[tuple[AnyRule, ...]] = (
    _rule(
        "server",
        f"!({_BY_ADDRESS}) || has(self.server)",
        "server is required for K3s and Kubeadm: set the address at which nodes reach the API "
        "server",
        _server_given,
    ),
    _rule(
        "server",
        "self.kind != 'K3s' || !has(self.server) || self.server.startsWith('https://')",
        "server must be a URL for K3s, such as https://host:6443",
        _server_is_url,
    ),
    _rule(
        "server",
        "self.kind != 'Kubeadm' || !has(self.server) || !self.server.contains('://')",
        "server must not be a URL for Kubeadm: use a form such as host:6443",
        _server_is_endpoint,
    ),
    _rule(
        "caHash",
        "self.kind != 'Kubeadm' || has(self.caHash)",
        "caHash is required for Kubeadm: `kubeadm token create --print-join-command` prints it",
        _hash_given,
    ),
    _rule(
        "tokenSecretRef",
        "self.tokenFrom != 'Secret' || has(self.tokenSecretRef)",
        "tokenSecretRef is required if tokenFrom is Secret: set it, or use Minted",
        _token_given,
    ),
    _rule(
        "tokenSecretRef",
        "!has(self.tokenSecretRef) || self.tokenFrom == 'Secret'",
        "tokenSecretRef isn't used if tokenFrom is Minted: remove it, or set tokenFrom to Secret",
        _token_used,
    ),
    _rule(
        "template",
        "self.kind != 'Custom' || has(self.template) != has(self.templateSecretRef)",
        "Custom requires either template or templateSecretRef: set one of them",
        _template_given,
    ),
    _rule(
        "templateSecretRef",
        "self.kind != 'Talos' || has(self.templateSecretRef)",
        "templateSecretRef is required for Talos: set it to the Secret with the machine "
        "configuration",
        _configuration_given,
    ),
    _rule(
        "template",
        f"!({_BY_ADDRESS}) || !(has(self.template) || has(self.templateSecretRef))",
        "template isn't used for K3s and Kubeadm, because growth writes their user data: remove "
        "it, or use kind Custom",
        _template_used,
    ),
    _rule(
        "template",
        "self.kind != 'Custom' || !has(self.template) || ("
        + " && ".join(f"self.template.contains('$(growth.{name})')" for name in NEEDED_VARIABLES)
        + ")",
        "template must use $(growth.nodeName), $(growth.nodeLabels) and $(growth.nodeTaints): "
        "without them growth can't find the node, or pods run on it too early",
        _template_complete,
    ),
    ModelRule(
        text=(
            "template has the unknown variable $(growth.{name}): use one of "
            + ", ".join(TEMPLATE_VARIABLES)
        ),
        because="to look for what is not in a list costs CEL more than an object may cost",
        breaches=_unknown_variables,
    ),
    ModelRule(
        text="template uses $(growth.{name}): set {name} in bootstrap",
        because="it belongs to the rule before: both look into the template",
        breaches=_valueless_variables,
    ),
)
