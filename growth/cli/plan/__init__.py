"""`growth plan`: what growth would buy, and what it would cost."""
