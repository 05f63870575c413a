"""`growth explain`: why a pod is pending, why a node is kept, what limits a pool."""
