"""The fuzzer that looks where the code goes: `python -m tests.fuzz.guided TARGET SECONDS FOLDER`.

atheris changes an input a little, again and again, and keeps those that reach new lines of growth.
It ends the process with a trace and exit code 77 at the first input that fails; the input is then
in the folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import atheris  # type: ignore[import-untyped, unused-ignore]  # only where it is installed

with atheris.instrument_imports(include=["growth", "reconciler", "extender", "webhooks"]):
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    from tests.fuzz.poison import known_keys
    from tests.fuzz.test_deciding import ends_well, written
    from tests.fuzz.test_decoders import DECODERS, SOUND, documents_of, goes_in
    from tests.fuzz.test_slowness import OF_BYTES, OF_TEXTS, REFUSED
    from tests.fuzz.town import document_of, town

    # This loads all of growth, which takes long and would count for the first input.
    known_keys()

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_INPUT = 8192
SLOW = 120
"""Seconds for one input, after which it counts as endless: also on a machine that is busy."""


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(written())
def _passes(poisoned: Any) -> None:
    ends_well(poisoned)


@settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def _documents(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(DECODERS)))
    goes_in(kind, data.draw(documents_of(kind)))


def _bytes(raw: bytes) -> None:
    """The first byte chooses who reads the rest."""
    kinds = (*sorted(DECODERS), *OF_BYTES, *OF_TEXTS)
    kind = kinds[raw[0] % len(kinds)] if raw else kinds[0]
    rest = raw[1:]
    try:
        if kind in OF_BYTES:
            OF_BYTES[kind](rest)
        elif kind in OF_TEXTS:
            OF_TEXTS[kind](rest.decode(errors="replace"))
        else:
            goes_in(kind, rest)
    except REFUSED:
        return


TARGETS: dict[str, Callable[[bytes], object]] = {
    "bytes": _bytes,
    "documents": _documents.hypothesis.fuzz_one_input,  # type: ignore[attr-defined]
    "passes": _passes.hypothesis.fuzz_one_input,  # type: ignore[attr-defined]
}


def _sow(folder: Path) -> None:
    """Sound objects to begin with, one for each reader."""
    folder.mkdir(parents=True, exist_ok=True)
    sound = {"metadata": {"name": "default-1", "uid": "u", "resourceVersion": "1"}}
    seeds = [json.dumps({**sound, **SOUND.get(kind, {})}) for kind in sorted(DECODERS)]
    seeds += [json.dumps(document_of(each)) for each in town().values()]
    for number, seed in enumerate(seeds):
        (folder / f"seed-{number}").write_bytes(bytes([number % 256]) + seed.encode())


def main() -> None:
    """Fuzz one target for some seconds."""
    target, seconds, folder = sys.argv[1:]
    corpus = Path(folder, target)
    _sow(corpus)
    bounds = (f"-max_total_time={seconds}", f"-timeout={SLOW}", f"-max_len={LONGEST_INPUT}")
    places = (f"-artifact_prefix={folder}/found-{target}-", "-print_final_stats=1")
    atheris.Setup([sys.argv[0], *bounds, *places, str(corpus)], TARGETS[target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
