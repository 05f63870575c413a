"""Writes the golden files anew."""

from __future__ import annotations

from reconciler.providers.hetzner.bootstrap.rendering import user_data
from tests.hetzner.golden import CASES, FOLDER

for name, joining in CASES.items():
    (FOLDER / name).write_text(user_data(joining), "utf-8")
