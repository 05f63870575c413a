"""Where machines come from: one port, and a package for each cloud behind it."""
