"""`python -m tests.vectors`: run the rows, tell those that fail, and count.

GROWTH_VECTORS is the folder of the rows; GROWTH_VECTORS_SYSTEMS and GROWTH_VECTORS_KINDS limit the
run. A kind without an adapter fails; what is waived is told and counted neither way.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.vectors.judging import Outcome, judge
from tests.vectors.rows import choice_of_now, chosen


def main() -> int:
    """Run what the environment asks for."""
    try:
        rows = chosen(choice_of_now())
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
    sys.exit(main())
