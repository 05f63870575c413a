"""The demand: which pods need a node, from which pools; the demand book and its wire format."""
