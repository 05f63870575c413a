"""How the world is seen: caches, the demand stream, listings and catalogues."""
