"""What several commands take from people and show them."""
