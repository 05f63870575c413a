"""What the process that sizes workloads knows at one moment, and what it can do."""
