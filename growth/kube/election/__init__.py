"""Leader election with a Lease: one process acts, the others wait.

The client library's own election isn't used. With it, a leader can go on after its deadline when
the API server hangs, renewals continue after the work has failed, and local times are written as
UTC.
"""

from growth.kube.election.elector import lead, lead_repeatedly
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
    "lead_repeatedly",
    "this_run",
]
