"""How questions and plans follow each other on a pipe: each with its length before it."""

from __future__ import annotations

import struct

LENGTH = struct.Struct("!Q")
"""The number of bytes that follow."""
