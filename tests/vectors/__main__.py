"""`python -m tests.vectors [PATH ...]`: run the rows, tell those that fail, and count.

A path is a file, whose name begins with that of its system (growth.json, growth-more.json), or a
folder of such files; without one it is the folder in GROWTH_VECTORS, or the copy that is here.
GROWTH_VECTORS_SYSTEMS and GROWTH_VECTORS_KINDS limit the run. What is no row, or of a kind without
an adapter, fails; what is waived is told and counted neither way.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from tests.vectors.judging import Outcome, judge
from tests.vectors.rows import choice_of_now, chosen

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(paths: Sequence[str] = ()) -> int:
    """Run what the paths and the environment ask for."""
    try:
        rows = chosen(choice_of_now(paths))
    except OSError as error:
        print(f"no such rows: {error.filename}; see GROWTH_VECTORS and GROWTH_VECTORS_SYSTEMS")
        print("0 passed, 1 failed")
        return 1
    judged = [judge(row) for row in rows]
    for one in judged:
        if one.outcome is not Outcome.PASSED:
            print(one.text)
    counts = Counter(one.outcome for one in judged)
    print(f"{counts[Outcome.PASSED]} passed, {counts[Outcome.FAILED]} failed")
    return 1 if counts[Outcome.FAILED] or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
