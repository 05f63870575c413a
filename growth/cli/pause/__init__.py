"""`growth pause` and `growth resume`: write and end a pause."""
