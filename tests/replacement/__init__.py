"""Which node is replaced, when, and by what."""
