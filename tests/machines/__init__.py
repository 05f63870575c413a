"""Servers that really boot: cloud-init reads our user data, a kubelet joins, and pods run."""
