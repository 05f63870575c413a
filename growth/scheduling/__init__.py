"""Which pods fit on which nodes: the scheduler's rules as exact, pure functions.

`objects` has the kinds and their decoders, `cluster` the snapshot that rules look at, and `fits`
the question itself; each rule has a module. The reference is kube-scheduler 1.36 with its default
profile: tests/differential compares every verdict with the real one.
"""
