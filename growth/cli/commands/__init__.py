"""One module a command: `add_arguments(parser)` declares its words, `run(arguments)` does it."""
