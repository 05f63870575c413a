"""The policy `Utilisation`: so many nodes that requests stay at a share of their capacity."""
