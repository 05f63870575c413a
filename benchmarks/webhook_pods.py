"""The review of a typical pod: of a Deployment, with a sidecar, probes, volumes and variables."""

from __future__ import annotations

import json
from typing import Any

Document = dict[str, Any]


def review() -> bytes:
    """As the API server sends it. The pod names no pool, which is the most work."""
    pod = _pod()
    return json.dumps(
        {
            "kind": "AdmissionReview",
            "apiVersion": "admission.k8s.io/v1",
            "request": {
                "uid": "0df28fbd-5f5f-11e8-bc74-36e6bb280816",
                "kind": {"group": "", "version": "v1", "kind": "Pod"},
                "resource": {"group": "", "version": "v1", "resource": "pods"},
                "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
                "requestResource": {"group": "", "version": "v1", "resource": "pods"},
                "namespace": "shop",
                "operation": "CREATE",
                "userInfo": {
                    "username": "system:serviceaccount:kube-system:replicaset-controller",
                    "groups": ["system:serviceaccounts", "system:authenticated"],
                },
                "object": pod,
                "oldObject": None,
                "dryRun": False,
                "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            },
        }
    ).encode()


def _pod() -> Document:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "generateName": "web-7d4b9c6f5-",
            "creationTimestamp": None,
            "labels": {"app": "web", "pod-template-hash": "7d4b9c6f5", "tier": "front"},
            "annotations": {"checksum/config": "5" * 64, "prometheus.io/scrape": "true"},
            "ownerReferences": [{**owner, "uid": "0df28fbd-5f5f-11e8-bc74-36e6bb280817"}],
            "managedFields": [
                {"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": _fields()}
            ],
        },
        "spec": {
            "containers": [_container("web"), _container("proxy")],
            "volumes": [
                {"name": name, "configMap": {"name": name, "defaultMode": 420}}
                for name in ("config", "templates", "certificates")
            ],
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{trouble}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for trouble in ("not-ready", "unreachable")
            ],
            "restartPolicy": "Always",
            "serviceAccountName": "web",
            "schedulerName": "default-scheduler",
        },
        "status": {},
    }


def _container(name: str) -> Document:
    probe = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10}
    return {
        "name": name,
        "image": f"registry.example.org/shop/{name}:1.2.3",
        "env": [{"name": f"SETTING_{number}", "value": "value" * 6} for number in range(15)],
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "readinessProbe": probe,
        "livenessProbe": probe,
        "volumeMounts": [{"name": "config", "mountPath": "/etc/config", "readOnly": True}],
        "imagePullPolicy": "IfNotPresent",
    }


def _fields() -> Document:
    names = ("image", "name", "ports", "resources", "env", "livenessProbe", "readinessProbe")
    return {
        "f:spec": {
            f'k:{{"name":"{container}"}}': {f"f:{name}": {".": {}} for name in names}
            for container in ("web", "proxy")
        }
    }
