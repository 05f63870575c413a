"""Tables for people: columns as wide as their content, numbers on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], *, to_the_right: Collection[str] = ()) -> Iterator[str]:
    """The lines of a table whose first row is the header; cells beyond it stay as they are."""
    head = rows[0]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = [
            cell.rjust(width) if name in to_the_right else cell.ljust(width)
            for cell, width, name in zip(row, widths, head, strict=False)
        ]
        yield "  ".join([*cells, *row[len(head) :]]).rstrip()
