"""`python -m growth.installation FOLDER` writes what is made of other manifests, and the charts."""

from __future__ import annotations

import sys
from pathlib import Path

from growth.installation.chart import charts
from growth.installation.monitoring import generated


def main(words: list[str]) -> int:
    """Write them."""
    if len(words) != 1:
        print("usage: python -m growth.installation FOLDER", file=sys.stderr)
        return 2
    folder = Path(words[0])
    # The charts hold what is made first.
    for place, texts in ((folder / "monitoring", generated), (folder / "charts", charts)):
        for name, text in texts().items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
