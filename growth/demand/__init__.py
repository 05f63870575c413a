"""Which pods need a node, and of which pools. Pure."""
