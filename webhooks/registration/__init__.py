"""How the API server is told about admission: a webhook, or from Kubernetes 1.36 on a policy.

Both are made here (`make crds` writes them into manifests/base), and both say in the same words
which pods are none of growth's business. What keeps a pod away is asked by the API server itself,
before anything is sent: a pod that isn't sent can't be harmed by a webhook that is slow or gone.
"""
