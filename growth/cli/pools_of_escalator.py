"""`growth convert --from escalator`: node groups become pools with the policy Utilisation.

A file that Escalator would refuse is refused in the same words. What a group says about its
provider has no counterpart, since growth buys machines by their types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from growth.api.escalator_groups import EscalatorGroup, mistakes_of_group, utilisation_of_group
from growth.api.problems import problems_of
from growth.api.scaling_utilisation import UtilisationScaling
from growth.cli.converted import (
    UNBOUNDED_MAX,
    ConvertedObject,
    Json,
    Remark,
    left_out,
    pool_document,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from growth.api.yaml_text import Path, YamlDocument

GROUPS: Final = "node_groups"
DEFAULT: Final = "default"
_TOLD: Final = {
    "cloud_provider_group_name": "no counterpart: the pool buys the types of --server-types",
    "aws": "no counterpart: how machines are created is in the node class",
}
_MOST_OPTIONS: Final = frozenset(EscalatorGroup.model_fields)


def pools_of_escalator(
    document: YamlDocument, types: Sequence[str]
) -> tuple[ConvertedObject, ...] | None:
    """A pool for each group; None if the document has no groups."""
    data = document.data
    if not isinstance(data, dict) or GROUPS not in data:
        return None
    groups = data[GROUPS] if isinstance(data[GROUPS], list) else []
    return tuple(_pool(each, (GROUPS, number), types) for number, each in enumerate(groups))


def _pool(old: Any, path: Path, types: Sequence[str]) -> ConvertedObject:
    name = old.get("name", "") if isinstance(old, dict) else ""
    title = f'node group "{name}"'
    try:
        group = EscalatorGroup.model_validate(old)
    except ValidationError as error:
        problems = problems_of(error, EscalatorGroup)
        return ConvertedObject(title, path, {}, problems=tuple(map(str, problems)))
    if mistakes := mistakes_of_group(group):
        return ConvertedObject(title, path, {}, problems=tuple(mistakes))
    try:
        scaling = utilisation_of_group(group)
    except ValidationError as error:
        problems = problems_of(error, UtilisationScaling)
        return ConvertedObject(title, path, {}, problems=tuple(map(str, problems)))
    pool = _document(group, scaling, types)
    return ConvertedObject(title, path, pool, tuple(_remarks(old, group, path)))


def _document(group: EscalatorGroup, scaling: UtilisationScaling, types: Sequence[str]) -> Json:
    fields = {
        "labels": {group.label_key: group.label_value},
        "mode": "Observe" if group.dry_mode else None,
        "scaling": {
            "policy": "Utilisation",
            "utilisation": scaling.model_dump(mode="json", exclude_none=True, exclude_unset=True),
        },
    }
    most = group.max_nodes or UNBOUNDED_MAX
    return pool_document(group.name, types=types, most=most, fields=fields)


def _remarks(old: dict[str, Any], group: EscalatorGroup, path: Path) -> Iterator[Remark]:
    yield from left_out(old, _TOLD, _MOST_OPTIONS, at=path)
    if group.name != DEFAULT:
        yield Remark(
            (*path, "label_key"),
            f"label_key: its nodes have the label {group.label_key}={group.label_value}, but its "
            f"pods must select growth.dev/pool={group.name}",
        )
    if group.discovers_bounds:
        yield Remark(
            path,
            "min_nodes and max_nodes: they were those of the provider's group. Set max of each "
            f"server type, which is {UNBOUNDED_MAX} now, and min",
        )
    if not group.scale_up_cool_down_timeout:
        yield Remark(
            (*path, "scale_up_cool_down_period"),
            "scale_up_cool_down_timeout: unset. It is 10m now, or twice the period if longer",
        )
    if group.dry_mode:
        yield Remark((*path, "dry_mode"), "dry_mode: became mode: Observe; remove it to act")
