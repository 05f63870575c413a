"""`growth explain`: why a pod waits, why a node is there, what holds a pool."""
