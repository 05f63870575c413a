"""Every name that growth writes into a cluster or looks for there.

All of them start with `growth.dev/`, which is reserved: a pool may not set such labels or taints,
because a typing mistake could look like a decision of growth's.
"""

from __future__ import annotations

from typing import Final

GROUP: Final = "growth.dev"
"""The API group of the six kinds."""

VERSION: Final = "v1alpha1"
"""The only version so far. There is no conversion webhook: fields are added, never moved."""

GROUP_VERSION: Final = f"{GROUP}/{VERSION}"
"""The `apiVersion` in a cluster."""

SEED_GROUP_VERSION: Final = "growth/v1alpha1"
"""Accepted in files only: Kubernetes rejects a group without a dot."""

RESERVED_PREFIX: Final = f"{GROUP}/"
"""Only growth writes keys with this prefix."""

# Labels

POOL_LABEL: Final = "growth.dev/pool"
"""On a node: its pool. In a pod's nodeSelector or affinity: the pool that the pod names."""

NODE_REQUEST_LABEL: Final = "growth.dev/node-request"
"""On a node: the NodeRequest that bought it."""

INSTANCE_TYPE_LABEL: Final = "growth.dev/instance-type"
"""On a node: its server type, even if no cloud controller sets the standard label."""

MANAGED_BY_LABEL: Final = "growth.dev/managed-by"
"""On a node, and on a machine at the provider: `growth`."""

MANAGED_BY: Final = "growth"
"""The value of the label `growth.dev/managed-by`."""

ADMISSION_LABEL: Final = "growth.dev/admission"
"""On a namespace or a pod: `disabled` opts out of admission."""

ADMISSION_DISABLED: Final = "disabled"
"""The value of the label `growth.dev/admission` that opts out."""

# Annotations

SERVER_ID_ANNOTATION: Final = "growth.dev/server-id"
"""On a node: the provider's ID of its machine. For information only; growth never deletes by it."""

PRICE_ANNOTATION: Final = "growth.dev/price"
"""On a node: its price per hour when it was bought."""

CURRENCY_ANNOTATION: Final = "growth.dev/currency"
"""On a node: the currency of its price, such as EUR, if the provider says."""

BOUGHT_AT_ANNOTATION: Final = "growth.dev/bought-at"
"""On a node: when it was bought (RFC 3339). Paid hours count from here."""

PLAN_ANNOTATION: Final = "growth.dev/plan"
"""On a node: why this type was chosen, and the cost of the next best (JSON, at most 1 KiB)."""

REPLACES_ANNOTATION: Final = "growth.dev/replaces"
"""On a NodeRequest and its node: which nodes it replaces, and why (JSON)."""

TEMPLATE_ANNOTATION: Final = "growth.dev/template"
"""On a NodeRequest and its node: what the machine was created from, part by part (JSON)."""

SCALE_DOWN_AT_ANNOTATION: Final = "growth.dev/scale-down-at"
"""On an idle node: when it is given back (RFC 3339), unless a pod arrives."""

CORDONED_ANNOTATION: Final = "growth.dev/cordoned"
"""On a node that growth has cordoned: the reason. A cordon without it was set by a person."""

DO_NOT_DISRUPT_ANNOTATION: Final = "growth.dev/do-not-disrupt"
"""On a node or pod: it isn't moved to save cost or because of drift."""

PAUSED_UNTIL_ANNOTATION: Final = "growth.dev/paused-until"
"""On a pool: growth neither buys nor gives back machines before this time (RFC 3339)."""

PAUSED_REASON_ANNOTATION: Final = "growth.dev/paused-reason"
"""On a pool: why it is paused, for people."""

WRITING_STOPPED_ANNOTATION: Final = "growth.dev/writing-stopped"
"""On the reconciler's Lease: the rule that it was about to break. It has written nothing since."""

INSTALLATION_ANNOTATION: Final = "growth.dev/installation"
"""On the reconciler's Lease: the id of this installation and its former ids (JSON)."""

PUT_ASIDE_ANNOTATION: Final = "growth.dev/put-aside"
"""On the reconciler's Lease: what it can't decide about because of what is written there."""

HVPA_TAKEOVER_ANNOTATION: Final = "growth.dev/hvpa-takeover"
"""On an Hvpa: field managers whose replicas and sizes growth takes over, separated by commas."""

# Taints

UNREGISTERED_TAINT: Final = "growth.dev/unregistered"
"""NoSchedule, on a new node until it can serve."""

UNINITIALIZED_TAINT: Final = "node.cloudprovider.kubernetes.io/uninitialized"
"""On a node that the cluster's cloud controller hasn't initialized yet; only that removes it."""

SCALE_DOWN_TAINT: Final = "growth.dev/scale-down"
"""NoSchedule, on an idle node. The value is the time of marking in Unix seconds."""

FORCE_SCALE_DOWN_TAINT: Final = "growth.dev/scale-down-now"
"""Set by people on a node of a pool with the policy Utilisation: it goes as soon as it is empty,
without a grace period."""

LEAVING_TAINT: Final = "growth.dev/leaving"
"""NoSchedule, on a node whose machine is being given back. It keeps off pods that tolerate the
scale-down taint."""

# Finalizer

PROVIDER_CLEANUP_FINALIZER: Final = "growth.dev/provider-cleanup"
"""Keeps an object until its machine is taken care of. Never on nodes or pods."""

# Names

PAUSE_UNTIL_KEY: Final = "until"
"""In the data of the ConfigMap that pauses every pool: the end of the pause (RFC 3339)."""

PAUSE_REASON_KEY: Final = "reason"
"""In the same data: the reason, for people."""

DEFAULT_POOL: Final = "default"
"""The pool of pods that don't name one."""

DEFAULT_NODE_CLASS: Final = "default"
"""The node class of pools that don't name one, of whichever kind exists."""

SEVERAL_CURRENCIES: Final = "SeveralCurrencies"
"""Condition of a pool that has prices in more than one currency."""

TYPES_MISSING: Final = "TypesMissing"
"""The condition of a pool that names server types which it can't buy anywhere."""
