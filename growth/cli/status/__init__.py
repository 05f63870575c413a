"""`growth status`: what there is, what is on its way and what is stuck."""
