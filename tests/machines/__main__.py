"""`python -m tests.machines`: the cloud of `python -m kwok up --real`.

check               print what this machine lacks, a line for each
serve KUBECONFIG    sell servers that join this cluster, and print the address of the API
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.clouds.growing import TOKEN, new_project
from tests.hetzner.fake.api import Account
from tests.hetzner.fake.serving import serve
from tests.machines.booting import BootingDatacentre
from tests.machines.image import image_folder
from tests.machines.keeping import hall_of
from tests.machines.needs import missing

if TYPE_CHECKING:
    from collections.abc import Sequence


def sell_servers(kubeconfig: Path) -> None:
    """Serve the API until this process is ended; servers end with it."""
    project = new_project()
    with hall_of(image_folder()) as hall:
        datacentre = BootingDatacentre(project, kubeconfig, hall=hall)
        with serve(Account({TOKEN: project}), datacentre.run) as endpoint:
            print(f"{endpoint} {TOKEN}", flush=True)
            signal.pause()


def main(words: Sequence[str]) -> int:
    """Run a command."""
    match words:
        case ["check"]:
            lacking = missing()
            print("\n".join(lacking))
            return 2 if lacking else 0
        case ["serve", kubeconfig]:
            sell_servers(Path(kubeconfig))
            return 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
