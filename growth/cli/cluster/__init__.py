"""What several commands read of a cluster, and how they reach it."""
