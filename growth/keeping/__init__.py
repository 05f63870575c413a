"""Why a node is kept, until when, and who could change that: one answer for all who ask.

The reconciler decides by it, its metric counts by it and the command line tells it, so that all of
them use the same words. Pure: nodes, pods, pools, removals and a moment in, an answer out.
"""
