"""The scheduler extender: it answers filter and prioritize calls, and streams the demand."""
