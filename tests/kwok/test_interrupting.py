"""An interruption never falls between a program's start and the block that ends it."""

from __future__ import annotations

import signal
import threading

import pytest

from kwok.interrupting import interrupted_only_after

SIGNALS = pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])


@SIGNALS
def test_what_is_begun_is_ended_and_the_interruption_follows(
    how: signal.Signals,
) -> None:
    seen: list[str] = []

    def interrupt(*_: object) -> None:
        seen.append("interrupted")
        raise KeyboardInterrupt

    def work() -> None:
        with interrupted_only_after():
            signal.raise_signal(how)
            seen.append("done")

    before = signal.signal(how, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        restored = signal.getsignal(how)
    finally:
        signal.signal(how, before)
    assert seen == ["done", "interrupted"]
    assert restored is interrupt


def test_without_an_interruption_nothing_changes() -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with interrupted_only_after():
        pass
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_in_another_thread_it_is_no_hindrance() -> None:
    seen: list[str] = []

    def work() -> None:
        with interrupted_only_after():
            seen.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["done"]
