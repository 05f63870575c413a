"""The price lists that come with growth: data, and no code."""
