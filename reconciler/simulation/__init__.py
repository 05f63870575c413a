"""A seeded world with virtual time, in which the real loop runs unchanged."""
