"""`growth plan`: what would be bought, and what it would cost."""
