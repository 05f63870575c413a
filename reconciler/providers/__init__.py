"""Where machines come from: one port, and a room for each cloud behind it."""
