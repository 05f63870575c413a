"""The pod of a proof is deleted again however the proof ends, and what is left is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from typing_extensions import override

from growth.cli.cluster.lists import Lists
from growth.cli.doctor.proof.attempt import Attempt
from growth.cli.doctor.proof.pod import pod_for
from growth.cli.doctor.proof.proving import Unproved
from growth.cli.doctor.proof.trial import TrialPod
from growth.kube.errors import Denied, Unreachable
from growth.kube.transport import Response
from tests.certs.api import Api
from tests.cli.seen import request, waiting

if TYPE_CHECKING:
    from growth.errors import GrowthError

ATTEMPT = Attempt(
    pool="default",
    pod=pod_for("default", name="proof", namespace="shop", nodes=(), seconds=60),
    steps=(),
    machine="a cx33",
)
PATH = "/api/v1/namespaces/shop/pods/proof"
REQUESTS = "/apis/growth.dev/v1alpha1/noderequests"
NONE_REQUESTED = "the pod is deleted; no machine was requested for it"
MAYBE = (
    "the pod is deleted; a machine may have been requested for it; growth removes it when "
    "it is idle"
)
LATE, DENIED = Unreachable("no answer within 10 s"), Denied("not for you")
STUCK = Unproved("request", "waited in vain", "look")


class ApiServer(Api):
    """Where a pod can be created and deleted, and requests are listed."""

    creating: BaseException | None = None
    """What comes instead of the answer, though the pod is created."""
    deleting: GrowthError | None = None
    listing: GrowthError | None = None

    @override
    async def request(self, method: str, path: str, **words: Any) -> Response:
        match method:
            case "GET":
                if self.listing is not None:
                    raise self.listing
                items = [each for key, each in self.objects.items() if key.startswith(REQUESTS)]
                return Response(200, {}, msgspec.json.encode({"metadata": {}, "items": items}))
            case "DELETE":
                if self.deleting is not None:
                    raise self.deleting
                del self.objects[path]
                return Response(200, {}, b"{}")
            case _:
                answer = await super().request(method, path, **words)
                if self.creating is not None:
                    raise self.creating
                return answer

    def buy(self, name: str) -> None:
        """A request for the pod."""
        pod = waiting("proof", metadata={"uid": self.objects[PATH]["metadata"]["uid"]})
        made = request(name, "Pending", pods=(pod,))
        self.put(f"{REQUESTS}/{name}", made.model_dump(mode="json", by_alias=True))


def ended(server: ApiServer, error: BaseException, *, bought: bool = False) -> str:
    """What is left when this happens while the pod is there."""
    trial = trial_at(server)

    async def run() -> None:
        async with trial:
            assert PATH in server.objects
            if bought:
                server.buy("default-7")
            raise error

    with pytest.raises(type(error)):
        asyncio.run(run())
    return trial.left


@pytest.mark.parametrize("error", [STUCK, LATE, asyncio.CancelledError()])
def test_the_pod_is_deleted_however_the_proof_ends(error: BaseException) -> None:
    server = ApiServer()
    assert ended(server, error) == NONE_REQUESTED
    assert PATH not in server.objects


def test_a_machine_that_was_requested_after_the_last_look_is_told() -> None:
    told = "the pod is deleted; default-7 may still run; growth removes it when it is idle"
    assert ended(ApiServer(), STUCK, bought=True) == told


def test_what_can_not_be_known_is_not_claimed() -> None:
    server = ApiServer()
    server.listing = LATE
    assert ended(server, STUCK) == MAYBE


def test_a_pod_that_can_not_be_deleted_is_never_called_deleted() -> None:
    server = ApiServer()
    server.deleting = DENIED
    assert ended(server, STUCK) == "delete the pod shop/proof yourself: not for you"


@pytest.mark.parametrize(
    "error", [LATE, asyncio.CancelledError(), msgspec.DecodeError("Input data was truncated")]
)
def test_a_pod_is_deleted_whose_creation_was_not_answered(error: BaseException) -> None:
    server = ApiServer()
    server.creating = error
    trial = trial_at(server)
    with pytest.raises(type(error)):
        asyncio.run(entered(trial))
    assert PATH not in server.objects
    assert trial.left == MAYBE


def test_where_the_server_has_refused_the_pod_nothing_is_left() -> None:
    server = ApiServer(read_only={"/pods"})
    trial = trial_at(server)
    with pytest.raises(Denied):
        asyncio.run(entered(trial))
    assert trial.left == ""


def test_after_all_steps_nothing_is_left() -> None:
    trial = trial_at(ApiServer())
    asyncio.run(entered(trial))
    assert trial.left == ""


def test_the_pod_ends_by_itself_where_it_could_not_be_deleted() -> None:
    assert ATTEMPT.pod["spec"]["activeDeadlineSeconds"] == 60


def trial_at(server: ApiServer) -> TrialPod:
    return TrialPod(ATTEMPT, Lists(cast("Any", server)))


async def entered(trial: TrialPod) -> None:
    async with trial:
        pass
