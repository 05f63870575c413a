"""The real API server over one connection that stays open: the whole table takes seconds."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import yaml

from growth.api.kinds import KINDS
from growth.api.problems import written_path

if TYPE_CHECKING:
    from pathlib import Path

    from growth.api.rules import Path as FieldPath

Document = dict[str, Any]
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@dataclass(frozen=True)
class Answer:
    """What the API server said."""

    status: int
    warnings: tuple[str, ...]
    body: Document

    @property
    def accepted(self) -> bool:
        return self.status < 300

    def refuses(self, path: FieldPath, text: str) -> bool:
        """Whether it names this field, or what it is part of, and says this about it."""
        causes = self.body.get("details", {}).get("causes", [])
        fields = {"<nil>", *(written_path(path[:length]) for length in range(1, len(path) + 1))}
        named = any(cause["field"] in fields and text in cause["message"] for cause in causes)
        return named or (not causes and text in self.body["message"])


class ApiServer:
    """Requests to the API server that a kubeconfig names, as the user that it names."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        context.load_cert_chain(user["client-certificate"], user["client-key"])
        address = urlsplit(cluster["server"])
        self._connection = http.client.HTTPSConnection(
            str(address.hostname), address.port, context=context, timeout=60
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def ask(
        self, method: str, path: str, body: Document | None = None, *, content: str = "json"
    ) -> Answer:
        """One request."""
        headers = {"Content-Type": f"application/{content}", "Accept": "application/json"}
        self._connection.request(method, path, json.dumps(body), headers)
        response = self._connection.getresponse()
        warnings = tuple(response.headers.get_all("Warning") or ())
        return Answer(response.status, warnings, json.loads(response.read()))

    def try_to_create(self, document: Document) -> Answer:
        """What would come of creating this object."""
        return self.ask("POST", f"{place(document)}?dryRun=All&fieldValidation=Strict", document)

    def create(self, document: Document) -> Answer:
        """Create this object."""
        return self.ask("POST", place(document), document)

    def try_to_replace(self, document: Document) -> Answer:
        """What would come of writing this over the object of its name."""
        path = f"{place(document)}/{document['metadata']['name']}"
        return self.ask("PUT", f"{path}?dryRun=All&fieldValidation=Strict", document)

    def delete(self, document: Document) -> Answer:
        """Delete this object."""
        return self.ask("DELETE", f"{place(document)}/{document['metadata']['name']}")

    def apply_definition(self, document: Document) -> Answer:
        """Server-side apply of a CustomResourceDefinition."""
        path = f"{DEFINITIONS}/{document['metadata']['name']}?fieldManager=test&force=true"
        return self.ask("PATCH", path, document, content="apply-patch+yaml")


def place(document: Document) -> str:
    """Where objects of this kind are."""
    plural, _, _ = KINDS[document["kind"]].kind_names
    return f"/apis/{document['apiVersion']}/{plural}"
