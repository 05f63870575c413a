"""`growth catalogue`: the cloud's prices of today as a file."""
