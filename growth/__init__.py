"""What the processes share: objects, the API server, scheduling rules, service, commands."""

__version__ = "0.1.0"
DISTRIBUTION = "growth-autoscaler"
"""What package indexes call us; `growth` is another project there."""
