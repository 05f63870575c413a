"""`growth watch`: what happens, as it happens."""
