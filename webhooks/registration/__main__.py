"""`python -m webhooks.registration FOLDER` writes the manifests of admission into a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from webhooks.registration.manifests import registration_files


def main(words: list[str]) -> int:
    """Write them."""
    if len(words) != 1:
        print("usage: python -m webhooks.registration FOLDER", file=sys.stderr)
        return 2
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in registration_files().items():
        (folder / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
