"""`growth scheduler-config`: print the configuration with which kube-scheduler calls growth."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from growth.cli.scheduler_config.configuration import (
    URL,
    Reach,
    SchedulerTarget,
    configuration_text,
)
from growth.cli.terminal.output import add_output_argument, print_json
from growth.errors import Misconfigured

if TYPE_CHECKING:
    import argparse

_URL: Final = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+(/[A-Za-z0-9./_-]*)?")
_NAME: Final = re.compile(r"[A-Za-z0-9.-]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument(
        "--for",
        dest="target",
        choices=[target.value for target in SchedulerTarget],
        required=True,
        help="how kube-scheduler is run",
    )
    parser.add_argument("--url", default=URL, help="URL of the extender (default: %(default)s)")
    parser.add_argument(
        "--ca-file",
        type=Path,
        metavar="FILE",
        help="for https: file with the CA certificate that signed the extender's",
    )
    parser.add_argument(
        "--server-name",
        default="",
        metavar="NAME",
        help="for https: the name in the extender's certificate",
    )
    add_output_argument(parser)
    parser.epilog = (
        "If you can't configure the scheduler (managed control planes), growth can install a "
        "second one: growth install --values FILE, with scheduler: Second in the file"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the file."""
    file = configuration_text(SchedulerTarget(arguments.target), _reach(arguments))
    if arguments.output == "json":
        print_json(yaml.safe_load(file))
    else:
        sys.stdout.write(file)
    return 0


def _reach(arguments: argparse.Namespace) -> Reach:
    url, name = arguments.url, arguments.server_name
    if not _URL.fullmatch(url):
        raise Misconfigured(
            f'--url "{url}" is not a valid URL; use {URL} with an IP address, because the '
            "scheduler's host can't resolve the names of Services"
        )
    if not _NAME.fullmatch(name):
        raise Misconfigured(f'--server-name "{name}" is not a host name')
    if url.startswith("https:") != (arguments.ca_file is not None):
        raise Misconfigured(
            "--url with https needs --ca-file, and --ca-file needs https: otherwise the scheduler "
            "can't verify the extender"
        )
    authority = b"" if arguments.ca_file is None else _content(arguments.ca_file)
    return Reach(url=url, authority=authority, server_name=name)


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"--ca-file {path}: {(error.strerror or str(error)).lower()}") from None
    if b"-----BEGIN CERTIFICATE-----" not in content:
        raise Misconfigured(f"--ca-file {path}: contains no certificate in PEM format")
    return content
