"""What the process sees: caches of the API server, and the world that follows from them."""
