"""AdmissionReview v1, as bytes and as values.

A review is decoded in one pass, the pod within it. When that fails, a second look at the envelope
alone tells whose fault it is: a review that isn't one is refused with a 4xx; a pod that can't be
read is still somebody's pod, and is let in as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from webhooks.pod import AdmittedPod

if TYPE_CHECKING:
    from webhooks.patch import Add

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"


class NotAReview(ValueError):
    """What was posted is no AdmissionReview of version 1. The text says why."""


class ReviewedKind(msgspec.Struct, frozen=True, gc=False):
    """The kind of what is reviewed."""

    group: str = ""
    version: str = ""
    kind: str = ""


POD: Final = ReviewedKind(version="v1", kind="Pod")


class _Common(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """What a request says besides the object."""

    uid: str
    kind: ReviewedKind = ReviewedKind()
    operation: str = ""
    sub_resource: str = ""
    namespace: str = ""
    name: str = ""


class Request(_Common, frozen=True, kw_only=True, gc=False):
    """One pod to be reviewed."""

    object: AdmittedPod | None = None


class _Envelope(_Common, frozen=True, kw_only=True, gc=False):
    """The same with an object that nobody has looked at."""

    object: msgspec.Raw = msgspec.Raw()


class _Review(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    api_version: str
    kind: str
    request: Request


class _ReviewOfAnything(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    api_version: str
    kind: str
    request: _Envelope


class UnreadableReview(msgspec.Struct, frozen=True):
    """A review whose envelope is good and whose object is not a pod that we know."""

    uid: str
    problem: str


_decode_review = msgspec.json.Decoder(_Review).decode
_decode_envelope = msgspec.json.Decoder(_ReviewOfAnything).decode


def decode(body: bytes) -> Request | UnreadableReview:
    """The request in a review."""
    try:
        review = _decode_review(body)
    # Nesting without end is a RecursionError, broken UTF-8 a ValueError of Python's own.
    except (ValueError, RecursionError) as error:
        return _of_anything(body, problem=_plainly(error))
    _check(review.api_version, review.kind, review.request.uid)
    return review.request


def _of_anything(body: bytes, *, problem: str) -> UnreadableReview:
    try:
        review = _decode_envelope(body)
    except (ValueError, RecursionError):
        raise NotAReview(problem) from None
    _check(review.api_version, review.kind, review.request.uid)
    return UnreadableReview(review.request.uid, problem)


def _check(api_version: str, kind: str, uid: str) -> None:
    if (api_version, kind) != (API_VERSION, KIND):
        raise NotAReview(f"this is {api_version} {kind}; {API_VERSION} {KIND} is expected")
    if not uid:
        raise NotAReview("request.uid is empty")


def _plainly(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


class _Answer(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    uid: str
    allowed: bool
    patch_type: Literal["JSONPatch"] | None = None
    patch: bytes = b""
    """Becomes base64, as the API server wants it."""
    warnings: tuple[str, ...] = ()


class _Answered(msgspec.Struct, frozen=True, rename="camel"):
    response: _Answer
    api_version: str = API_VERSION
    kind: str = KIND


_encode = msgspec.json.Encoder().encode


def allowed_review(
    uid: str, *, patch: tuple[Add, ...] = (), warnings: tuple[str, ...] = ()
) -> bytes:
    """The pod comes in, always; with a patch it is changed before, with warnings somebody reads."""
    if not patch:
        return _encode(_Answered(_Answer(uid, allowed=True, warnings=warnings)))
    answer = _Answer(
        uid, allowed=True, patch_type="JSONPatch", patch=_encode(patch), warnings=warnings
    )
    return _encode(_Answered(answer))
