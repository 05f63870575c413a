"""The lowest cost that a plan can have, and the linear and integer programs that prove it."""
