"""What is put into a cluster, and by which words of a person it changes.

`manifests/` is the one source. kustomize reads it as it is; `rendering` reads the same files for
`growth install`; `generators/charts.py` writes Helm's charts from them. Where a value goes is one
table, `places`, which both of the latter follow, so the three can't mean different things.
"""
