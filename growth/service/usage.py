"""The texts of `--help` and `--print-settings`."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING

import yaml
from pydantic import SecretStr

import growth
from growth.api.descriptions import descriptions
from growth.service.settings import declared_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.service.settings import DeclaredSetting, ServiceSettings, SettingsT
    from growth.service.sources import Effective

WIDEST = 100
"""Longer lines are hard to read, even in a wide terminal."""
_INTRODUCTION = (
    "A flag overrides its variable, a variable overrides the file, and the file overrides the "
    "default. The file is YAML, and its keys are the names of flags: log-level: debug."
)


def help_text(kind: type[ServiceSettings], *, name: str, purpose: str, width: int) -> str:
    """The help for all settings, for a terminal of this width."""
    width = min(width, WIDEST)
    meanings = descriptions(kind)
    title = f"{name} {growth.__version__}: {purpose}"
    usage = f"Usage: {name} [--config FILE] [--SETTING VALUE]..."
    lines = [*_wrapped(title, width), "", *_wrapped(usage, width), ""]
    lines += _wrapped(_INTRODUCTION, width)
    sections = itertools.groupby(sorted(declared_settings(kind), key=_section), key=_section)
    for section, settings in sections:
        lines += ["", section]
        for one in settings:
            title = f"{one.flag} {one.listed.value}"
            lines += _described(title, meanings[one.field], _otherwise(one), width=width)
    lines += ["", "Also"]
    for flag, meaning in _ALSO.items():
        lines += _described(flag, meaning, width=width)
    return "\n".join(lines) + "\n"


_ALSO = {
    "--config FILE": "A file of settings. Variable: GROWTH_CONFIG.",
    "--print-settings": "Print the effective settings and their sources, in the form of this file.",
    "--help": "Print this help.",
}


def _section(one: DeclaredSetting) -> str:
    return one.listed.section


def _otherwise(one: DeclaredSetting) -> str:
    default = one.information.default
    known = not one.information.is_required() and default is not None
    return f"Default: {default}. " * known + f"Variable: {one.variable}."


def _described(title: str, *paragraphs: str, width: int) -> list[str]:
    lines = (_wrapped(paragraph, width, indent=" " * 6) for paragraph in paragraphs)
    return [f"  {title}", *itertools.chain.from_iterable(lines)]


def _wrapped(text: str, width: int, *, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def settings_text(effective: Effective[SettingsT]) -> str:
    """The effective settings as a settings file, each with its source."""
    kind = type(effective.settings)
    return "".join(f"{line}\n" for one in declared_settings(kind) for line in _set(one, effective))


def _set(one: DeclaredSetting, effective: Effective[SettingsT]) -> Iterator[str]:
    value = getattr(effective.settings, one.field)
    given = effective.given.get(one.field)
    source = given.place if given else "default"
    if isinstance(value, SecretStr):
        yield f"# {one.key} is set and secret  # {source}"
    else:
        text = "" if value is None else f" {_scalar(value)}"
        yield f"{one.key}:{text}  # {source}"


def _scalar(value: object) -> str:
    """The value in YAML, with quotes if needed."""
    plain = value if isinstance(value, int | float) else str(value)
    return yaml.safe_dump(plain, width=10**6).removesuffix("...\n").strip()
