"""How many compute nodes a cluster should have, by its own report."""
