"""What fits where: the scheduler's rules on small frozen structs, pure and exact.

`objects` has the kinds and their decoders, `cluster` the snapshot that rules look at, `fits` the
question itself; each rule is a room of its own. Version 1.36 of the scheduler with its default
profile is the measure; tests/differential holds every verdict against the real one.
"""
