"""Carries out what the rules have decided."""
