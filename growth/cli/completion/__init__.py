"""`growth completion`: scripts for shells."""
