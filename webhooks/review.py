"""AdmissionReview v1 as bytes and as values.

A review is decoded in one pass, including the pod. If that fails, only the envelope is decoded, to
find the cause: a message that isn't a review is refused with a 4xx; a pod that can't be read is
allowed unchanged.
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
    """The body isn't an AdmissionReview v1; the text says why."""


class ReviewedKind(msgspec.Struct, frozen=True, gc=False):
    """The kind of the reviewed object."""

    group: str = ""
    version: str = ""
    kind: str = ""


POD: Final = ReviewedKind(version="v1", kind="Pod")


class _Common(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The fields of a request except the object."""

    uid: str
    kind: ReviewedKind = ReviewedKind()
    operation: str = ""
    sub_resource: str = ""
    namespace: str = ""
    name: str = ""


class Request(_Common, frozen=True, kw_only=True, gc=False):
    """A request with a pod."""

    object: AdmittedPod | None = None


class _Envelope(_Common, frozen=True, kw_only=True, gc=False):
    """A request with an undecoded object."""

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
    """A review with a valid envelope and an object that can't be decoded as a pod."""

    uid: str
    problem: str


_decode_review = msgspec.json.Decoder(_Review).decode
_decode_envelope = msgspec.json.Decoder(_ReviewOfAnything).decode


def decode(body: bytes) -> Request | UnreadableReview:
    """The request in a review."""
    try:
        review = _decode_review(body)
    # Deep nesting is a RecursionError, invalid UTF-8 a ValueError of Python itself.
    except (ValueError, RecursionError) as error:
        # Decoded a second time: to refuse the review would leave the pod to the failurePolicy.
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
    """Encoded as base64, as the API server expects."""
    warnings: tuple[str, ...] = ()


class _Answered(msgspec.Struct, frozen=True, rename="camel"):
    response: _Answer
    api_version: str = API_VERSION
    kind: str = KIND


_encode = msgspec.json.Encoder().encode


def allowed_review(
    uid: str, *, patch: tuple[Add, ...] = (), warnings: tuple[str, ...] = ()
) -> bytes:
    """The answer, which always allows the pod, with an optional patch and warnings."""
    if not patch:
        return _encode(_Answered(_Answer(uid, allowed=True, warnings=warnings)))
    answer = _Answer(
        uid, allowed=True, patch_type="JSONPatch", patch=_encode(patch), warnings=warnings
    )
    return _encode(_Answered(answer))
