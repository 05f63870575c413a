"""A cache of one kind: what the API server holds, kept equal by a list and a watch."""
