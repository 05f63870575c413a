"""What a case can be about: one module for each family of constraints, one function for each."""
