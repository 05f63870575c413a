"""The Hetzner provider, against a fake of its API that is spoken to over HTTP."""
