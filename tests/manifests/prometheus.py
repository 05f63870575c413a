"""A real Prometheus that scrapes growth's processes, for as long as a test asks it."""

from __future__ import annotations

import json
import math
import subprocess
import urllib.parse
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from generators.monitoring import groups
from kwok.ports import free_port
from tests.live import wait_until
from tests.manifests.programs import program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OFTEN: Final = "500ms"
"""Between two scrapes, so that rates have something to go by soon."""


@dataclass(frozen=True)
class Prometheus:
    """One that runs."""

    url: str

    def series(self, expression: str) -> int:
        """How many series with a value a query has now."""
        found = self._ask("query", query=expression)["result"]
        return sum(not math.isnan(float(each["value"][1])) for each in found)

    def history(
        self, expression: str, *, begin: float, end: float, step: float
    ) -> list[tuple[dict[str, str], list[tuple[float, float]]]]:
        """Labels of each series, and its values between two moments."""
        asked = {"query": expression, "start": str(begin), "end": str(end), "step": str(step)}
        found = self._ask("query_range", **asked)["result"]
        return [(each["metric"], [*_finite(each["values"])]) for each in found]

    def alerts(self) -> dict[str, str]:
        """Alerts that are due or about to be, with their state."""
        found = self._ask("alerts")["alerts"]
        return {each["labels"]["alertname"]: each["state"] for each in found}

    def troubles(self) -> list[str]:
        """Rules that can't be evaluated."""
        rules = (rule for group in self._ask("rules")["groups"] for rule in group["rules"])
        return [rule["name"] for rule in rules if rule["health"] == "err"]

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            return self.series("up") > 0
        except OSError:
            return False

    def _ask(self, what: str, **query: str) -> Any:
        url = f"{self.url}/api/v1/{what}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)["data"]


def _finite(values: list[tuple[float, str]]) -> Iterator[tuple[float, float]]:
    """A rate of nothing is no number."""
    yield from ((at, float(value)) for at, value in values if math.isfinite(float(value)))


@contextmanager
def scraping(targets: Mapping[str, int], folder: Path) -> Iterator[Prometheus]:
    """Scrape these processes, at their ports, and evaluate our rules."""
    port = free_port()
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups()}))
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(_configuration(targets)))
    command = [
        str(program("prometheus")),
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    log = folder / "prometheus.log"
    with (
        log.open("ab") as output,
        subprocess.Popen(command, cwd=folder, stdout=output, stderr=output) as process,
    ):
        prometheus = Prometheus(f"http://127.0.0.1:{port}")
        try:
            wait_until(prometheus.is_ready, f"Prometheus answers; see {log}")
            yield prometheus
        finally:
            process.kill()


def _configuration(targets: Mapping[str, int]) -> dict[str, Any]:
    jobs = [
        {"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
        for name, port in targets.items()
    ]
    return {
        "global": {"scrape_interval": OFTEN, "evaluation_interval": "1s"},
        "rule_files": ["rules.yaml"],
        "scrape_configs": jobs,
    }
