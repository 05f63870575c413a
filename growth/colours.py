"""Whether what is written to a stream may be in colours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def wants_colours(stream: TextIO) -> bool:
    """A terminal does, where a person hasn't said otherwise: see https://no-color.org."""
    return stream.isatty() and not os.environ.get("NO_COLOR")
