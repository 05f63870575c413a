"""The first rule of every pass: what may be done at all."""
