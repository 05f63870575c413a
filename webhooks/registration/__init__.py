"""The registration of admission: a webhook or, since Kubernetes 1.36, a policy.

Both manifests are generated (`make crds` writes them to manifests/base), and both exempt the same
pods. The API server itself checks the exemptions before it calls a webhook. So exempt pods can't be
affected by a webhook that is slow or down.
"""
