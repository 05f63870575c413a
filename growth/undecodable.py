"""What decoding raises when bytes that others wrote aren't what they should be.

It isn't only msgspec's own error: text that is no UTF-8 ends in one of Python's, and a document of
nothing but brackets in a RecursionError. Whoever catches the first alone can be ended by an
annotation, or by one broken byte of a stream.
"""

from __future__ import annotations

from typing import Final

import msgspec

UNDECODABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
