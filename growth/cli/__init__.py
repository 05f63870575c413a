"""The `growth` command, also found by kubectl as `kubectl growth`."""
