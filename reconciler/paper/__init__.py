"""Planning on paper: the same rules on what somebody has written down, for `growth plan`."""
