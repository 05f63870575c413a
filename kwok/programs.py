"""`python -m kwok programs`: find or make the programs of a control plane."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kwok.finding import FoundProgram, ProgramSearch
from kwok.named import named_programs
from kwok.places import cache_folder
from kwok.progress import Progress
from kwok.store import ProgramStore
from kwok.versions import NODE_PROGRAMS, PROGRAMS, kubernetes_version, wanted_versions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from kwok.versions import Program

SUMMARY = "find, download or build the programs of a control plane"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `programs`."""
    add_program_arguments(parser)
    parser.add_argument(
        "--nodes",
        action="store_true",
        help="also those of nodes that aren't simulated: kubelet and kubeadm",
    )
    parser.add_argument(
        "--only",
        choices=[program.name for program in (*PROGRAMS, *NODE_PROGRAMS)],
        metavar="NAME",
        help="just this program, such as kube-apiserver",
    )


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that select programs, for every command that needs them."""
    parser.add_argument(
        "--programs",
        type=Path,
        metavar="DIR",
        help="a folder with programs to use (also: GROWTH_KWOK_PROGRAMS=DIR, or for a single "
        "program a variable such as GROWTH_KUBE_APISERVER=PATH)",
    )
    parser.add_argument(
        "--kube-version",
        metavar="VERSION",
        help="the Kubernetes version, such as 1.36.3",
    )


def run(arguments: argparse.Namespace) -> int:
    """Find all programs and print where they are."""
    wanted = (*PROGRAMS, *NODE_PROGRAMS) if arguments.nodes or arguments.only else PROGRAMS
    if arguments.only is not None:
        wanted = tuple(program for program in wanted if program.name == arguments.only)
    for found in programs_for(arguments, Progress(), wanted).values():
        print(found)
    return 0


def programs_for(
    arguments: argparse.Namespace, progress: Progress, programs: Sequence[Program] = PROGRAMS
) -> dict[str, FoundProgram]:
    """These programs, as the arguments ask for them."""
    wanted = wanted_versions()
    if arguments.kube_version is not None:
        wanted = wanted.with_kubernetes(kubernetes_version(arguments.kube_version))
    store = ProgramStore(cache_folder())
    try:
        named = named_programs(arguments.programs)
        return ProgramSearch(wanted, named, store, progress, programs).run()
    finally:
        progress.clear()
