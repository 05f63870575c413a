"""From demand to machines, and from idle machines to none."""
