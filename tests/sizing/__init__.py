"""How many replicas of what size."""
