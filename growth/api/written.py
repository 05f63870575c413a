"""Values that people write as text: durations, quantities, money, times, names of server types.

None of them is a floating-point number: durations are integer nanoseconds, money is decimal, and
quantities stay text until `growth.scheduling` parses them exactly. Each kind of value has one
marker, which tells pydantic how to read and write it, and the API server how to check it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import override

from growth.foreign_text import MONEY_PATTERN, parse_money, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue

NANOSECONDS: Final = {
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
DURATION_PATTERN: Final = r"^([0-9]{1,9}(\.[0-9]{1,9})?(ns|us|ms|s|m|h)){1,6}$"
QUANTITY_PATTERN: Final = r"^[0-9]{1,20}(\.[0-9]{1,9})?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"
_NEARLY: Final = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,9})?) *([mkKMgGtTpPeE])(i?)([bB]?)")
"""A quantity as people write it elsewhere: 16GB, 16 Gi, 16gb."""
SERVER_TYPE_PATTERN: Final = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
PERCENT_PATTERN: Final = r"^(100|[1-9]?[0-9])%$"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Written:
    """How a value is written: marks a type in a model, `Annotated[Decimal, Written(...)]`."""

    read: Callable[[Any], Any]
    """From the document's value; the text of a ValueError says what to write instead."""
    write: Callable[[Any], Any] = str
    """Back to JSON."""
    schema: JsonSchemaValue
    """The schema for the API server."""
    made: type
    """The type that `read` returns; such values are accepted as they are."""
    accepts: tuple[type, ...] = (str,)
    """The JSON types that are accepted."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                self.write, return_schema=core_schema.any_schema()
            ),
        )

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return dict(self.schema)

    def _validate(self, value: object) -> Any:
        if isinstance(value, self.made) and not isinstance(value, self.accepts):
            return value
        if not isinstance(value, self.accepts) or isinstance(value, bool):
            context = {"wanted": self._wanted(), "lacks_quotes": self._lacks_quotes(value)}
            raise PydanticCustomError("wrong_type", "{wanted}", context)
        try:
            return self.read(value)
        except ValueError as error:
            raise PydanticCustomError("written", "{text}", {"text": str(error)}) from None

    def _lacks_quotes(self, value: object) -> bool:
        """Whether the value only lacks quotes."""
        try:
            self.read(str(value))
        except ValueError:
            return False
        return True

    def _wanted(self) -> str:
        return ",".join({int: "integer", str: "string"}[kind] for kind in self.accepts)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in Go's syntax: 90s, 10m, 1h30m."""

    nanoseconds: int

    @classmethod
    def parse(cls, written: str) -> Self:
        """Exact: 1.5h is precisely 5400 seconds."""
        if len(written) > 32 or not re.fullmatch(DURATION_PATTERN, written):
            raise ValueError("must be a duration such as 90s, 10m or 1h30m")
        parts = re.findall(r"([0-9.]+)(ns|us|ms|s|m|h)", written)
        return cls(int(sum(Decimal(number) * NANOSECONDS[unit] for number, unit in parts)))

    @classmethod
    def of_seconds(cls, seconds: float) -> Self:
        """To the millisecond."""
        return cls(round(seconds * 1000) * NANOSECONDS["ms"])

    @property
    def seconds(self) -> float:
        """For clocks, which count in floating-point seconds."""
        return self.nanoseconds / 1e9

    @property
    def timedelta(self) -> timedelta:
        """For sums with timestamps; to the microsecond."""
        return timedelta(microseconds=self.nanoseconds // 1000)

    @override
    def __str__(self) -> str:
        hours, rest = divmod(self.nanoseconds, NANOSECONDS["h"])
        minutes, rest = divmod(rest, NANOSECONDS["m"])
        seconds, rest = divmod(rest, NANOSECONDS["s"])
        parts = (hours, "h"), (minutes, "m"), (seconds, "s"), _below_a_second(rest)
        return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


def _below_a_second(nanoseconds: int) -> tuple[int, str]:
    unit = next(unit for unit in ("ms", "us", "ns") if nanoseconds % NANOSECONDS[unit] == 0)
    return nanoseconds // NANOSECONDS[unit], unit


def between(least: str, most: str) -> Written:
    """The marker of a duration between these bounds: `Annotated[Duration, ...]`."""
    text = f"must be a duration from {least} to {most}, such as 90s, 10m or 1h30m"
    bounds = Duration.parse(least), Duration.parse(most)

    def read(written: str) -> Duration:
        value = Duration.parse(written) if re.fullmatch(DURATION_PATTERN, written) else None
        if value is None or not bounds[0] <= value <= bounds[1]:
            raise ValueError(text)
        return value

    # The pattern comes first; duration() would fail on anything else with its own message.
    rule = (
        f"self.matches('{DURATION_PATTERN.replace(chr(92), chr(92) * 2)}')"
        f" && duration(self) >= duration('{least}') && duration(self) <= duration('{most}')"
    )
    schema = {
        "type": "string",
        "maxLength": 32,
        "pattern": DURATION_PATTERN,
        "x-kubernetes-validations": [{"rule": rule, "message": text}],
    }
    return Written(read=read, schema=schema, made=Duration)


@dataclass(frozen=True, slots=True, order=True)
class ServerTypeName:
    """The name of a server type: kept as written, compared ignoring case."""

    canonical: str = field(init=False)
    written: str = field(compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "canonical", self.written.lower())

    @classmethod
    def parse(cls, written: str) -> Self:
        """Any valid label value, because the name becomes one."""
        words = "a server type's name; use letters and digits, with - . _ between them"
        return cls(_matching(written, SERVER_TYPE_PATTERN, longest=63, otherwise=words))

    @override
    def __str__(self) -> str:
        return self.written


@dataclass(frozen=True, slots=True)
class Portion:
    """A number of a pool's nodes, or a percentage of them."""

    number: int
    unit: Literal["nodes", "%"]

    @classmethod
    def parse(cls, written: int | str) -> Self:
        """3 is a number, "10%" is a percentage."""
        if isinstance(written, int):
            return cls(_not_negative(written), "nodes")
        words = 'a number or a percentage; write it as 3 or "10%"'
        return cls(int(_matching(written, PERCENT_PATTERN, longest=4, otherwise=words)[:-1]), "%")

    def as_json(self) -> int | str:
        """As it is written."""
        return self.number if self.unit == "nodes" else f"{self.number}%"


def _matching(written: str, pattern: str, *, longest: int, otherwise: str) -> str:
    """The text, if it matches the pattern; `otherwise` says what it should be."""
    if len(written) > longest:
        raise ValueError(f"may not be more than {longest} bytes")
    if not re.fullmatch(pattern, written):
        raise ValueError(f"{written} isn't {otherwise}")
    return written


def _not_negative(number: int) -> int:
    if number < 0:
        raise ValueError("should be greater than or equal to 0")
    return number


def _decimal(written: str) -> Decimal:
    words = 'an amount of money; write it without a currency, such as "0.05"'
    return parse_money(_matching(written, MONEY_PATTERN, longest=22, otherwise=words))


def _quantity(written: int | str) -> str:
    text = str(_not_negative(written)) if isinstance(written, int) else written
    words = f"a quantity; write {_meant(text)}"
    return _matching(text, QUANTITY_PATTERN, longest=32, otherwise=words)


def _meant(text: str) -> str:
    """A similar quantity; GB could also mean GiB."""
    found = _NEARLY.fullmatch(text)
    if found is None:
        return "a number that isn't negative, with a unit where it needs one: 2, 500m or 16Gi"
    number, unit, binary, byte = found.groups()
    if unit == "m" and not binary and not byte:
        return f"{number}m"
    if binary:
        return f"{number}{unit.upper()}i"
    decimal = "k" if unit in "kK" else unit.upper()
    return f"{number}{decimal} or {number}{unit.upper()}i"


def write_time(moment: datetime) -> str:
    """RFC 3339 in UTC, with a fraction only if there is one."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _int_or_string(*, longest: int, pattern: str) -> JsonSchemaValue:
    return {
        "x-kubernetes-int-or-string": True,
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "minimum": 0,
        "maxLength": longest,
        "pattern": pattern,
    }


Quantity = Annotated[
    str,
    Written(
        read=_quantity,
        made=str,
        accepts=(int, str),
        schema=_int_or_string(longest=32, pattern=QUANTITY_PATTERN),
    ),
]
"""An amount of a resource that isn't negative, as text: 4, 500m, 8Gi."""

CountOrPercent = Annotated[
    Portion,
    Written(
        read=Portion.parse,
        write=Portion.as_json,
        made=Portion,
        accepts=(int, str),
        schema=_int_or_string(longest=4, pattern=PERCENT_PATTERN),
    ),
]
"""A number of nodes, or a share of them: 3, "10%"."""

Money = Annotated[
    Decimal,
    Written(
        read=_decimal,
        write=lambda amount: format(amount, "f"),
        made=Decimal,
        schema={"type": "string", "maxLength": 22, "pattern": MONEY_PATTERN},
    ),
]
"""A decimal amount that isn't negative, as text: "0.0136"."""

Timestamp = Annotated[
    datetime,
    Written(
        read=parse_time,
        write=write_time,
        made=datetime,
        schema={"type": "string", "format": "date-time"},
    ),
]
"""A moment in RFC 3339."""

ServerType = Annotated[
    ServerTypeName,
    Written(
        read=ServerTypeName.parse,
        made=ServerTypeName,
        schema={
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "pattern": SERVER_TYPE_PATTERN,
        },
    ),
]
"""The name of a server type."""
