"""Admission of pods: their pool, its tolerations, and warnings."""
