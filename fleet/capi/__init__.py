"""Clusters as Cluster API has them: what is read of its objects, and what is written."""
