"""What is sold: Hetzner's types as offerings, and the machines of the original's own cloud."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from growth.api import files
from growth.api.kwoknodeclass import KwokNodeClass, KwokOffer, KwokServerType
from growth.scheduling import resources
from reconciler.providers.hetzner import catalogue as hetzner
from reconciler.providers.hetzner.wire import (
    Deprecation,
    HetznerLocation,
    Net,
    Price,
    Pricing,
    ServerType,
    TypeLocation,
)
from reconciler.providers.kwok.catalogue import kwok_offerings
from tests.hetzner.build import node_class
from tests.reconciler.build import START
from tests.vectors.found import REGION, ZONE
from tests.vectors.registry import adapts
from tests.vectors.staging import GPU, GPU_MODEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconciler.providers.port import Offering
    from tests.vectors.rows import Json

MACHINES = Path(__file__).parents[3] / "docs" / "examples" / "seed" / "machines.yaml"
MI, GI = 2**20, 2**30
NOTHING_KEPT = {"evictionHard": {"memory.available": "0", "nodefs.available": "0"}}


@adapts("hetzner_server_type")
def hetzner_server_type(given: Json) -> Json:
    """Hetzner tells an end with its day; a type that is only called deprecated has had it."""
    places = given.get("locations", ["fsn1"])
    ended = given.get("deprecated_locations", [])
    is_over = given.get("deprecated") or given.get("deprecation_info")
    end = Deprecation(START - timedelta(days=1))
    costs = Net(Decimal(str(given.get("hourly", "0.01"))))
    everywhere = sorted({*places, *ended})
    sold = ServerType(
        name="cx22",
        cores=given.get("cores", 2),
        memory=Decimal(str(given.get("memory_gb", 4))),
        disk=given.get("disk", 40),
        architecture="x86",
        prices=tuple(Price(place, costs, Net(Decimal(5))) for place in everywhere),
        locations=tuple(
            TypeLocation(place, deprecation=end if is_over or place in ended else None)
            for place in everywhere
        ),
    )
    catalogue = hetzner.Catalogue(
        types=(sold,),
        locations=tuple(HetznerLocation(place, "eu-central") for place in everywhere),
        pricing=Pricing("EUR"),
    )
    bootstrap = {"kind": "K3s", "server": "https://10.0.0.2:6443", "kubelet": NOTHING_KEPT}
    spec = node_class(bootstrap=bootstrap).spec
    found = hetzner.hetzner_offerings(catalogue, spec, networks=(), now=START)
    answer = {"count": len(found), "regions": sorted(each.labels[REGION] for each in found)}
    return answer | (_size(found[0]) if found else {})


def _size(offer: Offering) -> Json:
    """The figures of the catalogue, of which a node has less for its pods."""
    room = offer.allocatable
    return {
        "cpu": room["cpu"] // 1000,
        "mem_mib": round(room["memory"] / hetzner.USABLE_MEMORY / MI),
        "disk_gib": round(room["ephemeral-storage"] / hetzner.USABLE_DISK / 10**9),
        "hourly": float(offer.price),
        # An offer that isn't sold by the zone has none of its own, whatever its nodes are labelled.
        "zone": offer.own_labels.get(ZONE),
    }


@adapts("offering_catalogue")
def offering_catalogue(given: Json) -> Json:
    """Nothing is built in: the original's machines are an example, sold in the row's zones."""
    ((_, example),) = files.read_documents([(str(MACHINES), MACHINES.read_text())]).resources
    assert isinstance(example, KwokNodeClass)
    types = tuple(_sold_in(given["zones"], each) for each in example.spec.types)
    spec = example.spec.model_copy(update={"types": types})
    sold = kwok_offerings(example.model_copy(update={"spec": spec}))
    told = [_type(each) for each in types]
    return {
        "cpu_types": [each for each in told if "gpu" not in each],
        "gpu_types": [each for each in told if "gpu" in each],
        "total_offerings": len(sold),
    }


def _sold_in(zones: Iterable[tuple[str, str]], kind: KwokServerType) -> KwokServerType:
    price = kind.offers[0].price
    offers = tuple(
        KwokOffer(location=zone, price=price, labels={REGION: region}) for region, zone in zones
    )
    return kind.model_copy(update={"offers": offers})


def _type(kind: KwokServerType) -> Json:
    amounts = resources.parse_resources(kind.resources)
    name = kind.name.canonical
    told = {
        # The original calls it cpx22 too, which is another type; its shape is that of cx22.
        "type": "cpx22" if name == "cx22" else name,
        "cpu": amounts["cpu"] // 1000,
        "mem_mib": amounts["memory"] // MI,
        "disk_gib": amounts["ephemeral-storage"] // GI,
        "hourly": float(kind.offers[0].price),
    }
    if amounts[GPU]:
        told |= {"gpu": amounts[GPU], "gpu_model": kind.labels[GPU_MODEL]}
    return told
