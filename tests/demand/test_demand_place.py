"""How a person says where the stream is."""

from __future__ import annotations

from pathlib import Path

import pytest

from growth.errors import Misconfigured
from reconciler.seeing.demand_place import DemandPlace, server_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (None, None),
        ("https://growth-extender:10285", "https://growth-extender:10285"),
        ("https://growth-extender:10285/", "https://growth-extender:10285"),
        ("http://127.0.0.1:10285", "http://127.0.0.1:10285"),
        ("http://[::1]:10285", "http://[::1]:10285"),
        ("http://localhost:10285", "http://localhost:10285"),
    ],
)
def test_the_stream_is_at_a_server(text: str | None, url: str | None) -> None:
    assert server_url(text) == url


@pytest.mark.parametrize(
    ("text", "how_to_mend_it"),
    [
        ("", "without a path"),
        ("growth-extender:10285", "without a path"),
        ("ftp://growth-extender", "without a path"),
        ("https://", "without a path"),
        ("https://growth-extender/v1/demand", "without a path"),
        ("https://growth-extender?watch=true", "nothing else"),
        ("https://me:word@growth-extender", "nothing else"),
        ("http://growth-extender:10285", "http on loopback"),
        ("http://192.0.2.7:10285", "http on loopback"),
    ],
)
def test_what_is_no_such_place_is_told_with_the_way_out(text: str, how_to_mend_it: str) -> None:
    with pytest.raises(ValueError, match=how_to_mend_it):
        server_url(text)


def test_https_needs_a_certificate_to_show() -> None:
    DemandPlace("https://growth-extender:10285", Path("certificates")).check()
    DemandPlace("http://127.0.0.1:10285", None).check()
    DemandPlace(None, None).check()
    with pytest.raises(Misconfigured, match="--demand-tls-folder"):
        DemandPlace("https://growth-extender:10285", None).check()
