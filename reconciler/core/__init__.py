"""The words that every room speaks: the world, the actions, what a rule answers."""
