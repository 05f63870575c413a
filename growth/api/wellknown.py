"""Every name that growth writes into a cluster or looks for there, each in one place.

All of them live under `growth.dev/`, which is reserved: a pool's template may not set labels or
taints below it, or a person's typing mistake could look like a decision of ours.
"""

from __future__ import annotations

from typing import Final

GROUP: Final = "growth.dev"
"""The API group of the five kinds."""

VERSION: Final = "v1alpha1"
"""The only version so far. There is no conversion webhook: fields are added, never moved."""

GROUP_VERSION: Final = f"{GROUP}/{VERSION}"
"""What `apiVersion` says in a cluster."""

SEED_GROUP_VERSION: Final = "growth/v1alpha1"
"""Understood in files only: Kubernetes refuses a group without a dot."""

RESERVED_PREFIX: Final = f"{GROUP}/"
"""Keys below this are written by growth alone."""

# Labels

POOL_LABEL: Final = "growth.dev/pool"
"""On a node: the pool it was bought for. On a pod's nodeSelector or affinity: the pool it asks
for."""

NODE_REQUEST_LABEL: Final = "growth.dev/node-request"
"""On a node: the NodeRequest that it was bought by."""

INSTANCE_TYPE_LABEL: Final = "growth.dev/instance-type"
"""On a node: its server type, also where no cloud provider sets the standard label."""

MANAGED_BY_LABEL: Final = "growth.dev/managed-by"
"""On a node, and on a machine at the provider: `growth`."""

MANAGED_BY: Final = "growth"
"""The value of the label `growth.dev/managed-by`."""

ADMISSION_LABEL: Final = "growth.dev/admission"
"""On a namespace or a pod: `disabled` keeps the webhook away from it."""

ADMISSION_DISABLED: Final = "disabled"
"""The value of the label `growth.dev/admission` that opts out."""

# Annotations

SERVER_ID_ANNOTATION: Final = "growth.dev/server-id"
"""On a node: the provider's id of its machine. It explains; deletes never trust it."""

PRICE_ANNOTATION: Final = "growth.dev/price"
"""On a node: what an hour of it cost when it was bought."""

CURRENCY_ANNOTATION: Final = "growth.dev/currency"
"""On a node: what its price is in, such as EUR; absent where the provider doesn't say."""

BOUGHT_AT_ANNOTATION: Final = "growth.dev/bought-at"
"""On a node: when it was bought (RFC 3339); its paid hours are counted from here."""

PLAN_ANNOTATION: Final = "growth.dev/plan"
"""On a node: why this type, and what the next best would have cost (JSON of at most 1 KiB)."""

REPLACES_ANNOTATION: Final = "growth.dev/replaces"
"""On a NodeRequest and its node: which nodes go when it serves, and why (JSON)."""

TEMPLATE_ANNOTATION: Final = "growth.dev/template"
"""On a NodeRequest and its node: what the machine was made from, part by part (JSON)."""

SCALE_DOWN_AT_ANNOTATION: Final = "growth.dev/scale-down-at"
"""On an idle node: when it will be given back (RFC 3339) unless a pod arrives."""

CORDONED_ANNOTATION: Final = "growth.dev/cordoned"
"""On a node that growth has cordoned: why. A cordon without it is a person's."""

DO_NOT_DISRUPT_ANNOTATION: Final = "growth.dev/do-not-disrupt"
"""On a node or pod: it is not moved for the sake of cost or drift."""

PAUSED_UNTIL_ANNOTATION: Final = "growth.dev/paused-until"
"""On a pool: growth neither buys nor removes in it before this time (RFC 3339)."""

PAUSED_REASON_ANNOTATION: Final = "growth.dev/paused-reason"
"""On a pool: why, for people."""

WRITING_STOPPED_ANNOTATION: Final = "growth.dev/writing-stopped"
"""On the Lease of the reconciler: the rule that it was about to break; it writes nothing since."""

# Taints

UNREGISTERED_TAINT: Final = "growth.dev/unregistered"
"""NoSchedule, from the first second of a node until it can serve."""

UNINITIALIZED_TAINT: Final = "node.cloudprovider.kubernetes.io/uninitialized"
"""On a node that the cluster's cloud controller hasn't looked at yet; only that takes it off."""

SCALE_DOWN_TAINT: Final = "growth.dev/scale-down"
"""NoSchedule, on an idle node; the value is the unix time (seconds) of marking."""

LEAVING_TAINT: Final = "growth.dev/leaving"
"""NoSchedule, on a node whose machine is given back: who tolerates the other mark stays away."""

# Finalizer

PROVIDER_CLEANUP_FINALIZER: Final = "growth.dev/provider-cleanup"
"""Keeps an object until the machine behind it is dealt with. Never on nodes, never on pods."""

# Names

PAUSE_UNTIL_KEY: Final = "until"
"""In the data of the ConfigMap that pauses every pool: the end of the pause (RFC 3339)."""

PAUSE_REASON_KEY: Final = "reason"
"""In its data: why, for people."""

DEFAULT_POOL: Final = "default"
"""The pool of pods that name none."""

DEFAULT_NODE_CLASS: Final = "default"
"""The node class of pools that name none, of whichever kind exists."""

TYPES_MISSING: Final = "TypesMissing"
"""The condition of a pool that names server types which it can buy nowhere."""
