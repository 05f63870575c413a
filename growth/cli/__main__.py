"""One command, one module: parse the words, run it, and turn every verdict into one line.

Exit codes: 0 done, 1 the answer is no (a finding, a cluster that can't be reached), 2 what was
asked for is wrong and a person can mend it, 130 interrupted, 143 terminated. A stack trace is
always a bug of ours.
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
from growth.errors import GrowthError, Misconfigured
from growth.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMANDS = {
    "plan": "say what would be bought for a set of manifests, and what it would cost",
    "catalogue": "save the cloud's prices of today to a file, for growth plan",
    "status": "say what there is, what it costs, what is on its way and what is stuck",
    "explain": "say why a pod waits, why a node is there, and what holds a pool",
    "cost": "say what pools and workloads cost, and how far that is from the best there could be",
    "top": "show how full each node is, what it costs and why it is there",
    "watch": "tell what happens, as it happens",
    "run": "run all processes of growth against a cluster, from this machine",
    "pause": "buy nothing and give nothing back for a while, in one pool or in all",
    "resume": "end a pause before its time",
    "install": "put growth into a cluster, or bring it up to date there",
    "uninstall": "take growth out of a cluster, with its machines or without",
    "doctor": "say what is wrong with the installation, and how to mend it",
    "bundle": "pack what a bug report needs, without a secret, and replayable",
    "validate": "check manifests, as strictly as the API server and with line numbers",
    "convert": "rewrite manifests of the older group growth/v1alpha1 so that kubectl takes them",
    "crds": "print the definitions of growth's objects, compare a cluster's, or apply them",
    "certs": "show, renew and export the certificates of growth's own processes",
    "scheduler-config": "print the configuration that makes kube-scheduler ask growth",
    "completion": "print what makes a shell complete growth's words",
    "version": "print which growth this is",
}
"""Name and purpose of each command; `module_of` tells its module."""


class _Parser(argparse.ArgumentParser):
    """argparse that answers a mistake with one line instead of the whole usage."""

    @override
    def parse_known_args(self, *words: Any, **more: Any) -> Any:
        """As argparse does, but the command itself says which flag it doesn't have."""
        found, rest = super().parse_known_args(*words, **more)
        unknown = next((word for word in rest if word.startswith("--")), None)
        if unknown is not None:
            flag, _, _ = unknown.partition("=")
            hint = did_you_mean(flag, self._option_string_actions)
            self.error(f"there is no {flag}{hint and f'; {hint}'}")
        return found, rest

    @override
    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(each) for each in action.choices]
        hint = did_you_mean(str(value), known) or f"there are {', '.join(known)}"
        raise argparse.ArgumentError(action, f'there is no "{value}"; {hint}')

    @override
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
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
    """What tasks that ran at once have ended with."""
    if isinstance(error, GrowthError):
        yield error
    elif isinstance(error, ExceptionGroup):
        for each in error.exceptions:
            yield from _verdicts(each)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; only the command that was asked for is imported, so that each starts fast."""
    plugin = Path(sys.argv[0]).name.startswith("kubectl-")
    parser = _Parser(
        prog="kubectl growth" if plugin else "growth",
        description="Nodes for pods: the cheapest machines for all that waits, with a proof.",
        epilog="growth COMMAND --help says more. kubectl finds it too: kubectl growth COMMAND.",
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
