"""What no plan can cost less than."""
