"""`growth watch`: events in the cluster as they happen."""
