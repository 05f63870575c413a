"""Reads settings: a flag overrides a variable, a variable the file, and the file the default.

Each text keeps its place, so that an error can name it. Only the effective text is validated: a
variable that a flag overrides may be invalid. The mistakes of all settings are reported together,
one per line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from pydantic import ValidationError

from growth.errors import Misconfigured
from growth.service.command_line import CONFIG, flag_meant
from growth.service.settings import DeclaredSetting, ServiceSettings, SettingsT, declared_settings
from growth.service.settings_file import entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

CONFIG_VARIABLE = "GROWTH_CONFIG"

_REASONS = {
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "less_than_equal": "must be at most {le}",
    "path_not_file": "must be the path of a file that exists",
    "value_error": "{error}",
    "written": "{text}",
}
"""What to write instead, by pydantic's name of the error."""


@dataclass(frozen=True)
class Given:
    """A text and its source: `--log-level`, `GROWTH_LOG_LEVEL`, or `growth.yaml:3: log-level`."""

    text: str
    place: str


@dataclass(frozen=True)
class Effective(Generic[SettingsT]):
    """The effective settings, and the given texts by field; other fields have their defaults."""

    settings: SettingsT
    given: Mapping[str, Given]


def read_settings(
    kind: type[SettingsT], *, flags: Mapping[str, str], environment: Mapping[str, str]
) -> Effective[SettingsT]:
    """The settings of a process; raises `Misconfigured` with all mistakes."""
    in_file, mistakes = _from_file(kind, flags=flags, environment=environment)
    given = {
        **in_file,
        **_from_environment(kind, environment),
        **_from_flags(kind, flags),
    }
    try:
        settings = kind.model_validate({field: one.text for field, one in given.items()})
    except ValidationError as error:
        known = {one.field: one for one in declared_settings(kind)}
        for details in error.errors(include_url=False):
            field = str(details["loc"][0])
            mistakes.append(_line(known[field], given.get(field), details))
        raise Misconfigured("\n".join(mistakes)) from None
    if mistakes:
        raise Misconfigured("\n".join(mistakes))
    return Effective(settings, given)


def _from_flags(kind: type[ServiceSettings], flags: Mapping[str, str]) -> dict[str, Given]:
    return {
        one.field: Given(flags[one.flag], one.flag)
        for one in declared_settings(kind)
        if one.flag in flags
    }


def _from_environment(
    kind: type[ServiceSettings], environment: Mapping[str, str]
) -> dict[str, Given]:
    """The texts of variables. An empty one is ignored: templates can't express "not set"."""
    # Unknown variables aren't errors: processes share the prefix, and often the ConfigMap.
    return {
        one.field: Given(text, one.variable)
        for one in declared_settings(kind)
        if (text := environment.get(one.variable))
    }


def _from_file(
    kind: type[ServiceSettings], *, flags: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[dict[str, Given], list[str]]:
    named_by = CONFIG if CONFIG in flags else CONFIG_VARIABLE
    name = flags.get(CONFIG, environment.get(CONFIG_VARIABLE, ""))
    known = {one.key: one for one in declared_settings(kind)}
    given: dict[str, Given] = {}
    mistakes: list[str] = []
    for entry in entries(name, named_by=named_by) if name else ():
        place = f"{name}:{entry.line}: {entry.key}"
        if entry.key not in known:
            mistakes.append(f"{place}: unknown setting; {flag_meant(entry.key, known)}")
        elif entry.text is None:
            mistakes.append(f"{place}: expected one value; see --help")
        else:
            given[known[entry.key].field] = Given(entry.text, place)
    return given, mistakes


def _line(one: DeclaredSetting, given: Given | None, details: ErrorDetails) -> str:
    """The error of one setting: where it is, what is wrong, and what to write instead."""
    if given is None:
        names = f"set {one.flag}, {one.variable}, or {one.key} in the file"
        return f"{one.flag}: this has no default; {names}"
    shown = "this value" if one.secret else f'"{given.text}"'
    return f"{given.place}: {shown} {_reason(details)}"


def _reason(details: ErrorDetails) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "enum":
            # Without pydantic's quotes: 'json' or 'console'.
            return f"must be {context['expected']}".replace("'", "")
        case kind if kind in _REASONS:
            return _REASONS[kind].format(**context)
        case _:
            return f"is invalid: {details['msg'][0].lower()}{details['msg'][1:]}"
