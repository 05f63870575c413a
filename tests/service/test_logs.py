"""One form for every line, and no secret in any."""

from __future__ import annotations

import io
import json
import logging
import re
import warnings
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as some
from typing_extensions import override

from growth.service import redaction
from growth.service.logs import start_logs
from growth.service.redaction import REDACTED, redact
from growth.service.settings import LogForm, LogLevel

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

# Each is made up, and put together here so that no scanner takes it for a real one.
SERVICE_ACCOUNT = "eyJhbGciOiJSUzI1NiJ9" + ".eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl_-4"
CLOUD = "aB3dE6gH" * 8
BOOTSTRAP = "abcdef." + "0123456789abcdef"
K3S = "K10" + "0123456789abcdef" * 4 + "::server:" + "feed5eed"
KEY = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----"


@pytest.fixture
def logger(stream: io.StringIO) -> FilteringBoundLogger:
    return start_logs(process="bakery", level=LogLevel.INFO, form=LogForm.JSON, stream=stream)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_that_begins_with_time_level_and_message(
    stream: io.StringIO, logger: FilteringBoundLogger
) -> None:
    logger.info("bread is ready", loaves=3, kind="rye\nand wheat")

    (line,) = lines(stream)
    assert list(line)[:3] == ["time", "level", "message"]
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "message": "bread is ready",
        "process": "bakery",
        "loaves": 3,
        "kind": "rye\nand wheat",
    }


def test_a_logger_that_was_got_anywhere_writes_to_the_same_place(
    stream: io.StringIO, logger: FilteringBoundLogger
) -> None:
    structlog.get_logger().warning("flour is low")

    assert [line["message"] for line in lines(stream)] == ["flour is low"]


def test_lines_below_the_level_are_not_written(
    stream: io.StringIO, logger: FilteringBoundLogger
) -> None:
    logger.debug("kneading")
    logging.getLogger("oven").debug("kneading")

    assert not stream.getvalue()


def test_what_libraries_log_has_the_same_form(
    stream: io.StringIO, logger: FilteringBoundLogger
) -> None:
    logging.getLogger("aiohttp.server").error("it is %s", "burnt")

    (line,) = lines(stream)
    assert line["message"] == "it is burnt"
    assert line["level"] == "error"
    assert line["process"] == "bakery"
    assert line["logger"] == "aiohttp.server"


def test_libraries_stay_above_debug_as_they_log_whole_answers_there(stream: io.StringIO) -> None:
    start_logs(process="bakery", level=LogLevel.DEBUG, form=LogForm.JSON, stream=stream)

    logging.getLogger("kubernetes.client.rest").debug("response body: %s", "c2VjcmV0")
    structlog.get_logger().debug("ours")

    assert [line["message"] for line in lines(stream)] == ["ours"]


def test_warnings_are_lines_too(stream: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        start_logs(process="bakery", level=LogLevel.INFO, form=LogForm.JSON, stream=stream)
        warnings.warn("the oven is old", UserWarning, stacklevel=1)

    (line,) = lines(stream)
    assert line["level"] == "warning"
    assert "the oven is old" in line["message"]


@pytest.mark.parametrize("source", ["ours", "library"])
def test_a_stack_trace_lies_in_its_line_without_local_variables(
    stream: io.StringIO, logger: FilteringBoundLogger, source: str
) -> None:
    def bake() -> None:
        recipe = "grandmother's"
        raise ValueError(len(recipe))

    try:
        bake()
    except ValueError:
        if source == "ours":
            logger.exception("burnt")
        else:
            logging.getLogger("oven").exception("burnt")

    (line,) = lines(stream)
    assert "ValueError: 13" in line["exception"]
    assert "in bake" in line["exception"]


def test_the_console_form_is_for_people_and_shows_no_local_variables(stream: io.StringIO) -> None:
    logger = start_logs(process="bakery", level=LogLevel.INFO, form=LogForm.CONSOLE, stream=stream)

    local = CLOUD
    try:
        _ = len(local) / 0
    except ZeroDivisionError:
        logger.exception("bread is burnt", loaves=3)

    text = stream.getvalue()
    assert "bread is burnt" in text
    assert "loaves=3" in text
    assert "ZeroDivisionError" in text
    assert CLOUD not in text


class Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


def test_auto_means_console_on_a_terminal() -> None:
    terminal = Terminal()

    start_logs(process="bakery", level=LogLevel.INFO, form=LogForm.AUTO, stream=terminal).info("hi")

    assert "hi" in terminal.getvalue()
    assert not terminal.getvalue().startswith("{")


def test_the_console_form_begins_with_the_time_of_day_and_tells_which_process_speaks(
    stream: io.StringIO,
) -> None:
    logger = start_logs(
        process="growth-bakery", level=LogLevel.INFO, form=LogForm.CONSOLE, stream=stream
    )

    logger.info("bread is ready", loaves=3)

    assert re.fullmatch(
        r"\d\d:\d\d:\d\d \[info +\] bakery: bread is ready +loaves=3\n", stream.getvalue()
    )


def test_a_terminal_that_wants_no_colour_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for wish, escapes in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", wish)
        terminal = Terminal()
        start_logs(process="bakery", level=LogLevel.INFO, form=LogForm.AUTO, stream=terminal).info(
            "bread is ready"
        )
        assert ("\x1b[" in terminal.getvalue()) is escapes


def test_auto_means_json_where_no_terminal_is(stream: io.StringIO) -> None:
    start_logs(process="bakery", level=LogLevel.INFO, form=LogForm.AUTO, stream=stream).info("hi")

    assert [line["message"] for line in lines(stream)] == ["hi"]


@pytest.mark.parametrize(
    ("secret", "event"),
    [
        ("sesame", {"token": "sesame"}),
        ("sesame", {"hcloud_token": "sesame"}),
        ("sesame", {"Authorization": "sesame"}),
        ("sesame", {"headers": {"X-Auth-Token": "sesame"}}),
        ("sesame", {"answers": [{"data": {"clientSecret": "sesame"}}]}),
        ("sesame", {"passwords": ["sesame"]}),
        ("sesame", {"private_key": b"sesame"}),
        ("sesame", {"text": "Authorization: Bearer sesame"}),
        ("sesame", {"text": "Bearer bearer sesame"}),
        ("c2VzYW1l", {"text": "authorization: basic c2VzYW1l"}),
        ("sesame", {"text": "GET /?token=sesame&limit=5"}),
        ("sesame", {"text": "Request(token='sesame', limit=5)"}),
        ("sesame", {"text": '{"password": "sesame"}'}),
        ("sesame", {"text": json.dumps({"text": json.dumps({"secret": "sesame"})})}),
        ("sesame", {"text": "cannot reach https://me:sesame@cloud/"}),
        (SERVICE_ACCOUNT, {"text": f"answer {SERVICE_ACCOUNT}"}),
        (CLOUD, {"text": f"bad value {CLOUD}."}),
        (BOOTSTRAP.split(".")[1], {"text": f"kubeadm join --token {BOOTSTRAP} server"}),
        (K3S, {"text": f"K3S_TOKEN {K3S}"}),
        ("MHcCAQEE", {"text": f"cannot parse {KEY}"}),
        ("MHcCAQEE", {"text": KEY[:45]}),
        (CLOUD, {"object": {CLOUD}}),
        (CLOUD, {"object": type("Client", (), {"__repr__": lambda _: f"Client({CLOUD})"})()}),
    ],
)
@pytest.mark.parametrize("form", [LogForm.JSON, LogForm.CONSOLE])
def test_no_secret_reaches_the_log(
    stream: io.StringIO, form: LogForm, secret: str, event: dict[str, Any]
) -> None:
    logger = start_logs(process="bakery", level=LogLevel.INFO, form=form, stream=stream)

    logger.info("called", **event)

    assert secret not in stream.getvalue()
    assert REDACTED in stream.getvalue()


def test_no_secret_reaches_the_log_through_libraries_and_stack_traces(
    stream: io.StringIO, logger: FilteringBoundLogger
) -> None:
    try:
        int(f"Bearer {CLOUD}")
    except ValueError:
        logging.getLogger("hcloud").exception("token=%s", BOOTSTRAP)

    (line,) = lines(stream)
    assert CLOUD not in line["exception"]
    assert BOOTSTRAP not in line["message"]


@pytest.mark.parametrize(
    "event",
    [
        {"token_count": 3},
        {"secret_name": "hcloud"},
        {"key": "zone"},
        {"token": None},
        {"text": "the token is missing"},
        {"text": "secret growth/hcloud: not found"},
        {"text": "pod shop/web-abc123.17f3a5b2c4d6e8f0"},
        {"text": "image sha256:" + "ab3d" * 16},
        {"text": "https://cloud:443/path@2"},
    ],
)
def test_what_is_no_secret_is_left_alone(
    stream: io.StringIO, logger: FilteringBoundLogger, event: dict[str, Any]
) -> None:
    logger.info("called", **event)

    assert REDACTED not in stream.getvalue()


VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text() | some.binary(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text() | some.integers(), inner),
    max_leaves=8,
)
FRAGMENTS = some.sampled_from(
    ['"', "\\", "token=", "'token': '", "Bearer ", "://a:", "@", KEY[:35], CLOUD, K3S, BOOTSTRAP]
)


@settings(max_examples=50, deadline=None)
@given(values=VALUES | some.lists(FRAGMENTS | some.text()).map("".join))
def test_whatever_is_logged_is_one_line_of_json(values: object) -> None:
    stream = io.StringIO()
    start_logs(process="bakery", level=LogLevel.INFO, form=LogForm.JSON, stream=stream).info(
        "called", values=values
    )

    assert len(lines(stream)) == 1


@settings(max_examples=50, deadline=None)
@given(text=some.from_regex(redaction._PLAIN, fullmatch=True))
def test_what_is_passed_over_as_plain_is_no_secret_by_any_look(text: str) -> None:
    assert not [look for _, look in redaction._LOOKS if look.search(text)]


@settings(max_examples=50, deadline=None)
@given(text=some.text(), secret=some.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=12))
def test_a_bearer_string_is_redacted_wherever_it_stands(text: str, secret: str) -> None:
    event = redact(None, "info", {"values": [f"{text} Bearer {secret}"]})

    assert secret not in event["values"][0].removeprefix(text)
