"""`growth top`: how full each node is and what it costs."""
