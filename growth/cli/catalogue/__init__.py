"""`growth catalogue`: the provider's current prices as a file."""
