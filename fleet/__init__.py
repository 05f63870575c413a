"""Fleets: clusters that report their capacity, grow and shrink in steps, come and go.

An agent in each cluster reports how much room is left. `reports` says what a report means and who
may send it, `nodes` how many compute nodes the cluster should have, and `clusters` which clusters
should come or go. All of them are pure rules.
"""
