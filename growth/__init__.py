"""What the processes of growth share: objects, the API server, scheduling rules, service, commands."""

__version__ = "0.1.0"
