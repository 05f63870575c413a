"""`growth completion`: a script that lets a shell complete growth's commands, flags and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.cli.completion import scripts as completions
from growth.cli.terminal.output import add_output_argument, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from growth.cli.completion.grammar import CommandGrammar

SCRIPTS: Final[Mapping[str, Callable[[Mapping[str, CommandGrammar]], str]]] = {
    "bash": completions.bash,
    "zsh": completions.zsh,
    "fish": completions.fish,
    "kubectl": completions.kubectl_plugin,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of this command."""
    parser.add_argument("shell", choices=SCRIPTS)
    add_output_argument(parser)
    parser.epilog = (
        "For example: source <(growth completion bash), or growth completion fish > "
        "~/.config/fish/completions/growth.fish. For kubectl growth: growth completion kubectl > "
        "kubectl_complete-growth, executable and on the PATH."
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    # What can be said includes this command, whose module is the one that is being loaded.
    from growth.cli.__main__ import COMMANDS  # noqa: PLC0415
    from growth.cli.completion.grammar import command_grammar  # noqa: PLC0415

    script = SCRIPTS[arguments.shell](command_grammar(COMMANDS))
    if arguments.output == "json":
        print_json({"shell": arguments.shell, "script": script})
    else:
        print(script, end="")
    return 0
