"""Sizing: how many replicas of what size a workload should have.

HPA and VPA each know one half of the answer. Their recommendations are compared as totals of the
workload (replicas x request of one pod). Intervals in the spec give each total one number of
replicas; the size of a pod is the total divided by that number.
"""
