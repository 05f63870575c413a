"""Access to the API server: connections, caches of its objects, and writes.

Only this package imports `kubernetes`, for kubeconfig files, exec plugins, expiring tokens and TLS.
Requests, watches and errors are our own code: the client's watch doesn't relist, has no back-off
and can't find lost deletions, and its models are much slower.
"""
