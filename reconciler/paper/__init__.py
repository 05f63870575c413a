"""Planning on paper for `growth plan`: the same rules on objects from files or a snapshot."""
