"""The price lists that come with growth; only data, no code."""
