"""Pods are moved away from a node that goes."""
