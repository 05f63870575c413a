"""Hetzner's HTTP API as far as growth uses it: what it keeps, how it fails, what it counts.

`project` is the state, `api` its routes, `faults` what goes wrong on demand, `serving` runs it all
on a port of its own. Time is the project's own clock, which only tests move.
"""
