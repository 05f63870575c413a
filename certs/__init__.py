"""The certificates of growth's own processes: authorities, leaves, and their renewal.

All of them are in Secrets in growth's namespace. Servers only read the files that the kubelet
mounts from these (`growth.service.tls`). The process
`growth-certs` writes them; a reconciler outside a cluster (`growth run`) may do it itself.
"""

from certs.metrics import CertsMetrics
from certs.tending import keep_certificates

__all__ = ["CertsMetrics", "keep_certificates"]
