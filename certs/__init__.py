"""Certificate authority, leaves, rotation, and injection into webhook configurations."""
