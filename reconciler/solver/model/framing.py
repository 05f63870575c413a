"""The format of questions and plans on the pipe: each is preceded by its length."""

from __future__ import annotations

import struct

LENGTH = struct.Struct("!Q")
"""The number of bytes that follow."""
