"""What an agent is told about its cluster when it asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class AgentConfiguration:
    """Where the agent finds the configuration of what it observes."""

    repository: str = ""
    channel: str = ""
    tag: str = ""
    access_token: str = ""

    def as_json(self) -> dict[str, Any]:
        """The answer to an agent, in the form that agents know."""
        return {
            "spec": {
                "observability": {
                    "repository": self.repository,
                    "channel": self.channel,
                    "access_token": self.access_token,
                    "tag": self.tag,
                }
            }
        }
