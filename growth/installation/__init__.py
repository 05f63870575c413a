"""Installs growth into a cluster and removes it: manifests and their options.

`manifests/` is the only source. kustomize reads it as it is, `rendering` reads it for `growth
install`, and `generators/charts.py` generates the Helm charts from it. The table in `places` says
where each option goes; the latter two use it, so all three have the same result.
"""
