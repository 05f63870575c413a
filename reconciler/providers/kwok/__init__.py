"""Simulated machines on a real control plane: to try growth, and to test it."""
