"""Valid reviews with something wrong in them, by chance and by a seed."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final

from tests.webhooks.reviews import review_of
from tests.webhooks.table import TABLE

if TYPE_CHECKING:
    from random import Random

STRANGE: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "growth.dev/pool",
    "x" * 1000,
    "\x00\ud800",
    [],
    {},
    [None],
    {"": None},
    [[[[]]]],
    {"key": "growth.dev/pool", "operator": "In", "values": ["gpu"]},
)


def mutated(chance: Random) -> bytes:
    """One review, wrong in its meaning, in its text, or (now and then) not at all."""
    document = review_of(copy.deepcopy(chance.choice(TABLE).before))
    for _ in range(chance.randrange(3)):
        _replace_something(document, chance)
    body = bytearray(json.dumps(document).encode("utf-8", "surrogatepass"))
    for _ in range(chance.choice((0, 0, 1, 3))):
        _damage(body, chance)
    return bytes(body)


def _replace_something(document: Any, chance: Random) -> None:
    place = document
    while True:
        if not place:
            return
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.2:
            place[key] = copy.deepcopy(chance.choice(STRANGE))
            return
        place = inner


def _damage(body: bytearray, chance: Random) -> None:
    begin = chance.randrange(len(body)) if body else 0
    end = min(len(body), begin + chance.choice((1, 1, 4, 60)))
    match chance.randrange(4):
        case 0:
            del body[begin:end]
        case 1:
            body[begin:end] = chance.randbytes(end - begin)
        case 2:
            body[begin:begin] = body[begin:end]
        case _:
            del body[begin:]
