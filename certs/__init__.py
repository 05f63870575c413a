"""The certificates of growth's own processes: an authority, leaves under it, and their renewal.

Everything lies in Secrets of growth's namespace; servers only read the files that the kubelet makes
of them (`growth.service.tls`). One process writes: the reconciler's leader, by `certs.run`.
"""

from certs.metrics import CertsMetrics
from certs.tending import keep_certificates

__all__ = ["CertsMetrics", "keep_certificates"]
