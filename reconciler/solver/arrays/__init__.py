"""Problems as arrays."""
