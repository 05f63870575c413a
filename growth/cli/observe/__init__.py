"""`growth observe`: what growth would do for pools that only observe."""
