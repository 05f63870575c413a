"""Leader election on a Lease: one process acts, the others wait.

The client library's own elector is not used: it lets a leader outlive its promise when the API
server hangs, goes on renewing after the work has failed, and writes local times as UTC.
"""

from growth.kube.election.elector import lead, lead_for_ever
from growth.kube.election.identity import Identity, this_run
from growth.kube.election.leadership import Leadership, LeadershipLost, boot_clock
from growth.kube.election.metrics import ElectionMetrics
from growth.kube.election.rule import Settings
from growth.kube.election.server import LeaseOnServer

__all__ = [
    "ElectionMetrics",
    "Identity",
    "Leadership",
    "LeadershipLost",
    "LeaseOnServer",
    "Settings",
    "boot_clock",
    "lead",
    "lead_for_ever",
    "this_run",
]
