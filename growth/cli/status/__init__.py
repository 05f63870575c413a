"""`growth status`: pools, their cost, machines on their way, and problems."""
