"""The API server: the way to it, what it holds as a cache that is never wrong, and writes to it.

Nothing else imports `kubernetes`. It is used for what is tedious and changes by itself (kubeconfig,
exec plugins, tokens that expire, TLS). Requests, watches and errors are our own: the client's watch
has no relist, no back-off and no way to find lost deletions, and its models cost far more.
"""
