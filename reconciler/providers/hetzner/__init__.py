"""Hetzner Cloud: servers are bought by name, seen in one listing, and given back by id.

`failures` says what an error means, `rates` when a call may be made, and `calls` makes it (the only
module that imports `hcloud`). `project` is what all node classes with one token share, `provider`
is the port, and `bootstrap` renders the user data. Decisions are pure functions. Calls run in
threads, because the client library blocks.
"""
