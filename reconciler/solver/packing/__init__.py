"""The search for a plan: a first one, better ones, and exact ones for small problems."""
