"""What a report says, who may send it, and what follows from it."""
