"""A simulated cluster with virtual time, in which the real loop runs unchanged."""
