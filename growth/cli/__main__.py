"""The command line: parse the arguments, run the command's module, and print errors as one line.

Exit codes: 0 success; 1 a negative result (a finding, a cluster that can't be reached); 2 a mistake
that the user can fix; 130 interrupted; 143 terminated. A stack trace is always a bug.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import override

from growth.cli import module_of
from growth.cli.terminal.escaping import escaped_output
from growth.errors import GrowthError, Misconfigured
from growth.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMANDS = {
    "plan": "show which machines a set of manifests would need, and what they would cost",
    "catalogue": "save the cloud's current prices to a file for growth plan",
    "status": "show pools, their cost, nodes on their way, and what is stuck",
    "explain": "explain why a pod is pending, why a node is kept, or what limits a pool",
    "cost": "show what pools and workloads cost, compared with the best possible plan",
    "top": "show the usage and cost of each node, and why it is kept",
    "watch": "show what happens, as it happens",
    "run": "run growth's processes on this machine, against a cluster",
    "observe": "show what growth would do, in pools that only observe",
    "pause": "stop buying and removing nodes for a while, in one pool or in all",
    "resume": "end a pause early",
    "install": "install growth in a cluster, or upgrade it",
    "uninstall": "remove growth from a cluster, with or without its machines",
    "doctor": "check the installation, and say how to fix what is wrong",
    "bundle": "collect what a bug report needs into one file, without secrets",
    "validate": "check manifests as strictly as the API server does, with line numbers",
    "convert": "convert manifests of the old group growth/v1alpha1 to the current one",
    "crds": "print growth's CustomResourceDefinitions, compare them with a cluster's, or apply "
    "them",
    "certs": "show, renew and export the certificates of growth's processes",
    "scheduler-config": "print the kube-scheduler configuration that adds growth's extender",
    "completion": "print the shell completion script for growth",
    "version": "print the version of growth",
}
"""Name and purpose of each command; `module_of` returns its module."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser that reports a mistake in one line instead of the whole usage."""

    @override
    def parse_known_args(self, *words: Any, **more: Any) -> Any:
        """Parse like argparse, but let the command itself report its unknown flags."""
        found, rest = super().parse_known_args(*words, **more)
        unknown = next((word for word in rest if word.startswith("--")), None)
        if unknown is not None:
            flag, _, _ = unknown.partition("=")
            hint = did_you_mean(flag, self._option_string_actions)
            self.error(f"unknown flag {flag}{hint and f'; {hint}'}")
        return found, rest

    @override
    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(each) for each in action.choices]
        hint = did_you_mean(str(value), known) or f"choose from {', '.join(known)}"
        raise argparse.ArgumentError(action, f'unknown value "{value}"; {hint}')

    @override
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    with escaped_output():
        return _ended(arguments)


def _ended(arguments: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = _parser(words).parse_args(words)
        if parsed.run is None:
            _parser(words).print_help()
            return 0
        code: int = parsed.run(parsed)
        sys.stdout.flush()
    except GrowthError as verdict:
        return _complain(verdict)
    except ExceptionGroup as several:
        if several.split(GrowthError)[1] is not None:
            raise  # there is a bug among them
        return _complain(next(_verdicts(several)))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (head, less) has had enough; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _complain(error: GrowthError) -> int:
    print(error, file=sys.stderr)
    return 2 if isinstance(error, Misconfigured) else 1


def _verdicts(error: Exception) -> Iterator[GrowthError]:
    """The errors of tasks that ran concurrently."""
    if isinstance(error, GrowthError):
        yield error
    elif isinstance(error, ExceptionGroup):
        for each in error.exceptions:
            yield from _verdicts(each)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only the requested command is imported, so that each starts fast."""
    plugin = Path(sys.argv[0]).name.startswith("kubectl-")
    parser = _Parser(
        prog="kubectl growth" if plugin else "growth",
        description="Node autoscaler: the cheapest machines for pending pods, with a proof.",
        epilog="Use growth COMMAND --help for more about a command. It also works as a kubectl "
        "plugin: kubectl growth COMMAND.",
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=_sentence(purpose))
        if name == asked:
            module = importlib.import_module(module_of(name))
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


if __name__ == "__main__":
    sys.exit(main())
