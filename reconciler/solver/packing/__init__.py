"""Plans: found, improved, explained."""
