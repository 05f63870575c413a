"""A fleet in virtual time: providers, agents, load and faults, and an auditor who sees the truth.

The loop is the real one. Everything around it is drawn from one seed, so that each story can be
told again.
"""
