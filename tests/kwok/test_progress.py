from __future__ import annotations

import io

from typing_extensions import override

from kwok.progress import Progress


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    @override
    def isatty(self) -> bool:
        return True


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_in_a_log_a_line_comes_every_quarter_of_a_minute() -> None:
    clock = Clock()
    progress = Progress(io.StringIO(), clock)
    for second in range(61):
        clock.now = second
        progress.show(f"second {second}")
    assert progress.stream.getvalue() == "second 15\nsecond 30\nsecond 45\nsecond 60\n"  # type: ignore[attr-defined]


def test_a_wait_for_another_command_is_told_at_once_and_then_now_and_then() -> None:
    clock = Clock()
    progress = Progress(io.StringIO(), clock)
    for second in range(100, 136):
        clock.now = second
        progress.wait("waiting for it")
    told = "waiting for it\nwaiting for it (15 s so far)\nwaiting for it (30 s so far)\n"
    assert progress.stream.getvalue() == told  # type: ignore[attr-defined]


def test_each_wait_is_told_by_itself() -> None:
    clock = Clock()
    progress = Progress(io.StringIO(), clock)
    for text in ("for one", "for one", "for another"):
        progress.wait(text)
    assert progress.stream.getvalue() == "for one\nfor another\n"  # type: ignore[attr-defined]


def test_a_step_that_is_soon_over_leaves_no_line_in_a_log() -> None:
    clock = Clock()
    progress = Progress(io.StringIO(), clock)
    progress.show("step 1")
    clock.now = 14.9
    progress.show("step 2")
    progress.say("done")
    assert progress.stream.getvalue() == "done\n"  # type: ignore[attr-defined]


def test_on_a_terminal_one_line_is_redrawn_and_what_is_said_stays() -> None:
    clock = Clock()
    progress = Progress(Terminal(), clock)
    progress.show("1 of 3")
    clock.now = 0.05
    progress.show("too soon to be seen")
    clock.now = 0.2
    progress.show("3 of 3")
    progress.say("done")
    assert progress.stream.getvalue() == "\r\x1b[K1 of 3\r\x1b[K3 of 3\r\x1b[Kdone\n"  # type: ignore[attr-defined]
