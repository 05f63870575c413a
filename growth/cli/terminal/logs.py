"""What a command logs goes to standard error: standard output is its answer, which programs read.

Mostly that is what the API server warns of, such as a pod that PodSecurity wouldn't let in.
"""

from __future__ import annotations

import logging
import sys

import structlog

from growth.colours import wants_colours
from growth.service.redaction import redact


def log_to_standard_error() -> None:
    """One line for each event, for people."""
    structlog.configure(
        processors=[
            redact,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=wants_colours(sys.stderr)),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def log_errors_only() -> None:
    """For commands that provoke warnings: what is worth knowing of them is in the answer."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
