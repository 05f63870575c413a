"""The manager's process: caches all the time, and reports and the loop while it leads."""
