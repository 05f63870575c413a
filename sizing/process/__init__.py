"""The process: caches all the time, and the loop while it leads."""
