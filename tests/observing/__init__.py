"""Pools that only observe: what is decided, told and left out."""
