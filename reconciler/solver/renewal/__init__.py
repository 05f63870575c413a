"""The search for nodes that can be removed, because their pods cost less elsewhere."""
