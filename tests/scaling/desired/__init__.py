"""The policy `Desired`."""
