"""The scheduler's verbs and the demand stream."""
