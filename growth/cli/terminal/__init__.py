"""What several commands read from people and print for them."""
