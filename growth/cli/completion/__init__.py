"""`growth completion`: completion scripts for shells."""
