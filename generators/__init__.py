"""Generates manifests and pages of this repository from the code; not part of the package."""
