"""Which nodes could go for cheaper ones."""
