"""The log of a process: constant messages, data as key-value pairs, and no secrets.

Lines go to standard error, as JSON in a cluster and in a readable form on a terminal. Messages of
libraries from the standard `logging` module go through the same chain. So there is one format and
one place that removes secrets.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TextIO, cast

import structlog
from typing_extensions import override

from growth.colours import wants_colours
from growth.service.redaction import redact
from growth.service.settings import LogForm, LogLevel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

_LEVELS = {
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}


def start_logs(
    *, process: str, level: LogLevel, form: LogForm, stream: TextIO
) -> FilteringBoundLogger:
    """Send all log messages to the stream from now on; each line names the process."""
    structlog.configure(
        processors=[*_gathering(process), *_rendering(form, stream)],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(stream),
    )
    _take_over_standard_logging(_LEVELS[level])
    return cast("FilteringBoundLogger", structlog.get_logger().bind())


def _gathering(process: str) -> Iterable[Processor]:
    def name_the_process(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {"process": process, **event}

    return (
        name_the_process,
        # For both forms, because the console renderer's own stack traces show local variables.
        structlog.processors.format_exc_info,
        redact,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    )


def _rendering(form: LogForm, stream: TextIO) -> Iterable[Processor]:
    match form:
        case LogForm.AUTO:
            on_terminal = LogForm.CONSOLE if stream.isatty() else LogForm.JSON
            return _rendering(on_terminal, stream)
        case LogForm.JSON:
            return (_in_reading_order, structlog.processors.JSONRenderer())
        case LogForm.CONSOLE:
            return (
                _at_a_glance,
                structlog.dev.ConsoleRenderer(colors=wants_colours(stream), timestamp_key="time"),
            )


def _at_a_glance(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The time of day in UTC, and the process, because `growth run` shows three at once."""
    process = event.pop("process").removeprefix("growth-")
    return {**event, "time": event["time"][11:19], "event": f"{process}: {event['event']}"}


def _in_reading_order(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    first = {"time": event.pop("time"), "level": event.pop("level"), "message": event.pop("event")}
    return {**first, **event}


class _Bridge(logging.Handler):
    """Passes records of the standard library to our log."""

    def __init__(self) -> None:
        super().__init__()
        self._logger = cast("FilteringBoundLogger", structlog.get_logger())

    @override
    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._logger.log(
                record.levelno,
                record.getMessage(),
                logger=record.name,
                exc_info=record.exc_info,
            )
        except Exception:  # noqa: BLE001 - a bad log record must not end the program
            self.handleError(record)


def _take_over_standard_logging(level: int) -> None:
    # Never below info: at debug, the Kubernetes client logs complete answers, including Secrets.
    logging.basicConfig(handlers=[_Bridge()], level=max(level, logging.INFO), force=True)
    logging.captureWarnings(capture=True)
