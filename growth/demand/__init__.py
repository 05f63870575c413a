"""Which pods need a node, and of which pools; the book of them and its wire form. Pure."""
