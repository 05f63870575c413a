"""Generates the completion script of each shell from the command line parsers.

The scripts ask kubectl for the names of pools, nodes and pods while the user types; without a
cluster they offer none. They complete `growth`. For `kubectl growth`, kubectl runs a separate
helper program.

Two libraries were tried. argcomplete starts Python for each Tab and imports the command, which
takes half a second of CPU time for `explain`; a script answers in a few milliseconds. shtab
generates scripts too, but they offer file names as words, which kubectl's helper can't pass on, and
all commands after one that doesn't exist; names from the cluster and the helper would still be our
work.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from growth.cli.completion.grammar import CommandGrammar, Flag, Takes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAMES: Final = """\
_growth_names() {
  local list="--no-headers --request-timeout=2s -o custom-columns=:.metadata.name"
  case "$1" in
    pool) kubectl get nodepools ${=list} ;;
    node) kubectl get nodes ${=list} ;;
    pod) kubectl get pods -A ${=list},:.metadata.namespace | awk '{print $2 "/" $1}' ;;
  esac 2>/dev/null
}
"""
"""With `=`, zsh splits a value at spaces, which bash does by default."""


def bash(commands: Mapping[str, CommandGrammar]) -> str:
    """A script to source in bash."""
    return f"{_bash_function(commands)}complete -o default -F _growth growth\n"


def kubectl_plugin(commands: Mapping[str, CommandGrammar]) -> str:
    """A program for kubectl: it reads the words after `growth` and prints words and a directive."""
    return (
        "#!/usr/bin/env bash\n"
        "# Save it as kubectl_complete-growth where kubectl-growth is, and make it executable.\n"
        f"{_bash_function(commands)}"
        'COMP_WORDS=(growth "$@")\n'
        "COMP_CWORD=$#\n"
        "_growth\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
        # What is no word of growth's may be a file (0); words are all there is to offer (4).
        'if [ "${#COMPREPLY[@]}" -gt 0 ]; then echo :4; else echo :0; fi\n'
    )


def _bash_function(commands: Mapping[str, CommandGrammar]) -> str:
    lines = [
        "_growth() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '  local command="${COMP_WORDS[1]}" action="${COMP_WORDS[2]}"',
        "  COMPREPLY=()",
        '  if [ "$COMP_CWORD" -le 1 ]; then',
        f"    {_reply(commands)}",
        "    return",
        "  fi",
        '  case "$command" in',
    ]
    for name, command in commands.items():
        lines += [f"    {name})", *_bash_command(command), "      ;;"]
    names = NAMES.rstrip().replace("${=list}", "$list")
    return "\n".join([names, *lines, "  esac", "}", ""])


def _bash_command(command: CommandGrammar) -> Iterator[str]:
    if command.actions:
        yield f'      if [ "$COMP_CWORD" -eq 2 ]; then {_reply(command.actions)}; return; fi'
        yield '      case "$action" in'
        for name, action in command.actions.items():
            yield f"        {name})"
            yield from (f"    {line}" for line in _bash_command(action))
            yield "          ;;"
        yield "      esac"
        return
    yield '      case "$before" in'
    for flag in command.flags:
        if flag.takes is not Takes.NOTHING:
            spelled = "|".join(flag.spellings)
            yield f"        {spelled}) {_reply_to(flag)}return ;;"
    yield "      esac"
    offered = [*command.words, *_spellings(command)]
    match command.names:
        case "pool":
            yield f"      {_reply(offered, more='$(_growth_names pool)')}"
        case "kind":
            yield f'      if [ "$COMP_CWORD" -eq 2 ]; then {_reply(command.words)}; return; fi'
            more = '$(_growth_names "${COMP_WORDS[2]}")'
            yield f"      {_reply(_spellings(command), more=more)}"
        case _:
            yield f"      {_reply(offered)}"


def _reply(words: Mapping[str, CommandGrammar] | Sequence[str], *, more: str = "") -> str:
    offered = " ".join([*words, *([more] if more else [])])
    # Not mapfile: the bash of macOS doesn't know it.
    return f'COMPREPLY=($(compgen -W "{offered}" -- "$word"))'


def _reply_to(flag: Flag) -> str:
    """A reply with the choices of a flag; without a reply, bash offers files."""
    return f"{_reply(flag.choices)}; " if flag.takes is Takes.CHOICE else ""


def _spellings(command: CommandGrammar) -> list[str]:
    return [spelling for flag in command.flags for spelling in flag.spellings]


def zsh(commands: Mapping[str, CommandGrammar]) -> str:
    """A script to source in zsh, or to save as _growth in its fpath."""
    lines = ["#compdef growth", NAMES.rstrip(), "_growth() {", "  local -a commands"]
    lines.append("  commands=(")
    lines += [f"    {_quoted(f'{name}:{each.purpose}')}" for name, each in commands.items()]
    lines += ["  )", "  if (( CURRENT == 2 )); then _describe command commands; return; fi"]
    lines += ["  local command=$words[2]", "  shift words; (( CURRENT-- ))", '  case "$command" in']
    for name, command in commands.items():
        lines += [f"    {name})", *_zsh_command(command), "      ;;"]
    # Loaded by fpath it is called by name; sourced it has to say what it is for.
    last = 'if [ "$funcstack[1]" = "_growth" ]; then _growth "$@"; else compdef _growth growth; fi'
    return "\n".join([*lines, "  esac", "}", last, ""])


def _zsh_command(command: CommandGrammar) -> Iterator[str]:
    if command.actions:
        actions = " ".join(command.actions)
        yield f"      if (( CURRENT == 2 )); then compadd -- {actions}; return; fi"
        yield "      local action=$words[2]; shift words; (( CURRENT-- ))"
        yield '      case "$action" in'
        for name, action in command.actions.items():
            yield f"        {name})"
            yield from (f"    {line}" for line in _zsh_command(action))
            yield "          ;;"
        yield "      esac"
        return
    yield "      _arguments \\"
    for flag in command.flags:
        for spelling in flag.spellings:
            yield f"        {_quoted(_zsh_flag(flag, spelling))} \\"
    if command.words:
        words = " ".join(command.words)
        yield f"        {_quoted(f'1:word:({words})')} \\"
    match command.names:
        case "pool":
            yield f"        {_quoted('1:pool:($(_growth_names pool))')}"
        case "kind":
            yield f"        {_quoted('2:name:($(_growth_names $words[2]))')}"
        case _:
            yield f"        {_quoted('*:file:_files')}"


def _zsh_flag(flag: Flag, spelling: str) -> str:
    text = flag.help
    for special in "\\[]:":
        text = text.replace(special, f"\\{special}")
    return f"{spelling}[{text}]{_zsh_value(flag)}"


def _zsh_value(flag: Flag) -> str:
    match flag.takes:
        case Takes.NOTHING:
            return ""
        case Takes.CHOICE:
            return f":value:({' '.join(flag.choices)})"
        case Takes.FILE:
            return ":file:_files"
        case Takes.TEXT:
            return ":value: "


def fish(commands: Mapping[str, CommandGrammar]) -> str:
    """A script to source in fish, or to save as growth.fish among its completions."""
    lines = ["complete -c growth -f"]
    for name, command in commands.items():
        told = f"-n __fish_use_subcommand -a {name} -d {_quoted(command.purpose)}"
        lines.append(f"complete -c growth {told}")
        lines += _fish_command(command, f"__fish_seen_subcommand_from {name}")
    return "\n".join([*lines, ""])


def _fish_command(command: CommandGrammar, seen: str) -> Iterator[str]:
    start = f"complete -c growth -n {_quoted(seen)}"
    if command.actions or command.words:
        yield f"{start} -a {_quoted(' '.join([*command.actions, *command.words]))}"
    for name, action in command.actions.items():
        yield from _fish_command(action, f"{seen}; and __fish_seen_subcommand_from {name}")
    for flag in command.flags:
        yield f"{start} {_fish_flag(flag)}"
    match command.names:
        case "pool":
            yield f"{start} -a {_fish_names('nodepools')}"
        case "kind":
            for kind, plural in (("pool", "nodepools"), ("node", "nodes")):
                of_kind = _quoted(f"{seen}; and __fish_seen_subcommand_from {kind}")
                yield f"complete -c growth -n {of_kind} -a {_fish_names(plural)}"
        case _:
            pass


def _fish_names(plural: str) -> str:
    return _quoted(f"(kubectl get {plural} -o name 2>/dev/null | string split -f2 /)")


def _fish_flag(flag: Flag) -> str:
    short = [each[1:] for each in flag.spellings if not each.startswith("--")]
    long = [each[2:] for each in flag.spellings if each.startswith("--")]
    words = [*(f"-s {each}" for each in short), *(f"-l {each}" for each in long)]
    match flag.takes:
        case Takes.NOTHING:
            pass
        case Takes.CHOICE:
            words += ["-x", f"-a {_quoted(' '.join(flag.choices))}"]
        case Takes.FILE:
            words += ["-r", "-F"]
        case Takes.TEXT:
            words += ["-x"]
    return " ".join([*words, f"-d {_quoted(flag.help)}"])


def _quoted(text: str) -> str:
    """The text in single quotes, which all of these shells take literally."""
    return shlex.quote(text)
