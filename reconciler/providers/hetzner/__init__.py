"""Hetzner Cloud: servers bought by name, seen in one listing, given back by id.

`failures` says what an answer means, `rates` when a call may be made, `calls` makes it (the only
place that knows `hcloud`); `project` is what all node classes with one token share, `provider` the
port. `bootstrap` renders what makes a server a node. What is decided is decided in pure functions;
what waits runs in threads, as the client library blocks.
"""
