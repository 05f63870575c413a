"""The input of the loop: caches, the demand stream, listings and catalogues."""
