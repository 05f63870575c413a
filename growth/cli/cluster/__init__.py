"""What several commands read from a cluster, and how they connect to it."""
