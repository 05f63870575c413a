"""`growth pause` and `growth resume`: how a pause is written and ended."""
