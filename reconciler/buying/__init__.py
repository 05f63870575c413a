"""What could be bought now: offers, refusals, limits, and the fleet that limits count."""
