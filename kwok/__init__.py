"""A real control plane on this machine: `python -m kwok up`."""
