"""What all rules of a fleet speak of: states of clusters, amounts of capacity, reports."""
