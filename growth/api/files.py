"""Objects read from manifests; every mistake has its file and line.

People keep pools in files together with other things, so a file may contain any Kubernetes object:
ours are read strictly, all others are passed on unchanged. The group `growth/v1alpha1` of older
files means `growth.dev/v1alpha1` (Kubernetes requires a dot in a group). `rewrite_group` changes
only that word in the text, so comments and order stay.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from growth.api.kinds import GROUP, GROUP_VERSION, SEED_GROUP_VERSION
from growth.api.problems import IN_QUOTES, DocumentProblem, read_strictly, written_path
from growth.api.yaml_text import BrokenText, YamlDocument, documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.meta import CustomResource


@dataclass(frozen=True)
class Mistake:
    """One mistake in a file, for people."""

    file: str
    line: int
    text: str

    @override
    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


class Mistakes(ValueError):
    """All mistakes in the files of one command."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


@dataclass(frozen=True)
class FileObject:
    """One Kubernetes object of a file."""

    file: str
    document: YamlDocument
    api_version: str
    kind: str
    name: str

    @property
    def title(self) -> str:
        """How a message names this object: `NodePool "default"`."""
        return f'{self.kind} "{self.name}"' if self.name else self.kind

    @property
    def ours(self) -> bool:
        """Whether it belongs to our group, in either spelling."""
        return self.api_version.split("/")[0] in {GROUP, SEED_GROUP_VERSION.split("/")[0]}

    @property
    def body(self) -> dict[str, Any]:
        """The plain data, with the older group replaced."""
        rewritten = self.api_version == SEED_GROUP_VERSION
        data: dict[str, Any] = self.document.data
        return {**data, "apiVersion": GROUP_VERSION} if rewritten else data

    def mistake(self, problem: DocumentProblem) -> Mistake:
        """Turn a problem of this object into a mistake in its file."""
        where = f"{self.title}: " + (f"{written_path(problem.path)}: " if problem.path else "")
        return Mistake(
            file=self.file,
            line=self.document.line_of(problem.path),
            text=where + problem.text + self._in_quotes(problem) + self._beside(problem),
        )

    def _in_quotes(self, problem: DocumentProblem) -> str:
        source = self.document.source_of(problem.path) if problem.text == IN_QUOTES else None
        return "" if source is None else f": {json.dumps(source)}"

    def _beside(self, problem: DocumentProblem) -> str:
        if problem.related is None:
            return ""
        return f" (see line {self.document.line_of(problem.related)} too)"


@dataclass(frozen=True)
class Manifests:
    """The content of the files of one command."""

    resources: tuple[tuple[FileObject, CustomResource], ...]
    """Objects of our kinds, validated."""
    others: tuple[FileObject, ...]
    """All other objects, unread."""


def read_documents(texts: Iterable[tuple[str, str]]) -> Manifests:
    """Read the objects of (file name, text) pairs, or raise all their mistakes at once."""
    resources: list[tuple[FileObject, CustomResource]] = []
    others: list[FileObject] = []
    mistakes: list[Mistake] = []
    for file, text in texts:
        try:
            for found in _objects(file, text):
                if not found.ours:
                    others.append(found)
                    continue
                match read_strictly(found.body):
                    case tuple() as problems:
                        mistakes.extend(map(found.mistake, problems))
                    case resource:
                        resources.append((found, resource))
        except Mistakes as broken:
            mistakes.extend(broken.mistakes)
    mistakes.extend(_doubled(resources))
    if mistakes:
        raise Mistakes(mistakes)
    return Manifests(resources=tuple(resources), others=tuple(others))


def rewrite_group(text: str) -> str:
    """The same text with the older group replaced by the one that Kubernetes accepts."""
    spots = {
        (node.start_mark.index, node.end_mark.index)
        for document in documents(text)
        for node in document.scalars_named("apiVersion")
        if node.value == SEED_GROUP_VERSION
    }
    for start, end in sorted(spots, reverse=True):
        text = text[:start] + GROUP_VERSION + text[end:]
    return text


def _objects(file: str, text: str) -> Iterator[FileObject]:
    try:
        for document in documents(text):
            yield from _unfolded(file, document)
    except BrokenText as broken:
        raise Mistakes([Mistake(file=file, line=broken.line, text=str(broken))]) from None


def _unfolded(file: str, document: YamlDocument) -> Iterator[FileObject]:
    """The object of a document; for a `List`, each of its items."""
    found = _object(file, document)
    if found.kind.endswith("List") and isinstance(document.data.get("items"), list):
        for index in range(len(document.data["items"])):
            yield from _unfolded(file, document.at(("items", index)))
    else:
        yield found


def _object(file: str, document: YamlDocument) -> FileObject:
    line = document.line_of(())
    if not isinstance(document.data, dict):
        text = "expected an object with apiVersion and kind"
        raise Mistakes([Mistake(file=file, line=line, text=text)])
    words = {key: document.data.get(key) for key in ("apiVersion", "kind")}
    for key, value in words.items():
        if not isinstance(value, str) or not value:
            text = f"{key} is missing"
            raise Mistakes([Mistake(file=file, line=line, text=text)])
    metadata = document.data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return FileObject(
        file=file,
        document=document,
        api_version=str(words["apiVersion"]),
        kind=str(words["kind"]),
        name=name if isinstance(name, str) else "",
    )


def _doubled(resources: Iterable[tuple[FileObject, CustomResource]]) -> Iterator[Mistake]:
    """An object given twice: kubectl would silently use the last one."""
    first: dict[tuple[str, str], FileObject] = {}
    for found, _ in resources:
        before = first.setdefault((found.kind, found.name), found)
        if before is not found:
            place = f"{before.file}:{before.document.line_of(())}"
            yield found.mistake(
                DocumentProblem(path=(), text=f"already defined at {place}; keep one")
            )
