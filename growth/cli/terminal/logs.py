"""Commands log to standard error, because programs read their standard output.

Most of the log is warnings of the API server, for example about a pod that violates PodSecurity.
"""

from __future__ import annotations

import logging
import sys

import structlog

from growth.colours import wants_colours
from growth.service.redaction import redact


def log_to_standard_error() -> None:
    """Log each event as one line for people."""
    structlog.configure(
        processors=[
            redact,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=wants_colours(sys.stderr)),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def log_errors_only() -> None:
    """Log only errors, for commands that provoke warnings and report what matters."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
