"""A cache of the objects of one kind, kept equal to the API server's by a list and a watch."""
