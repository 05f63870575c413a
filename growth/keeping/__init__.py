"""Why a node is kept, until when, and who can change that.

The reconciler's decisions, its metric and the command line all use this answer, so they use the
same words. It is a pure function of nodes, pods, pools, removals and the time.
"""
