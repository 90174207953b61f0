"""Verifies the messages of webhooks (Standard Webhooks: HMAC-SHA256 or ed25519)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from .ed25519 import is_signature
from .errors import InvalidOptionError, WebhookVerificationError

__all__ = ["WebhookMessage", "verify_webhook"]

_TOLERANCE_SECONDS = 300


class WebhookMessage(TypedDict):
    # The same for every attempt to deliver the event: ignore one that you have handled.
    id: str
    # Such as `request.fulfilled`.
    type: str
    # When it happened, ISO 8601.
    timestamp: str
    data: dict[str, Any]


def verify_webhook(raw_body: bytes, headers: Mapping[str, str], secret: str) -> WebhookMessage:
    """Verifies that a webhook sent a message less than five minutes ago, and parses it.

    `raw_body` is the body as it came, `secret` the webhook's `whsec_…`, or `whpk_…` of one that signs with ed25519.
    Raises `WebhookVerificationError` for any other message: answer it with 400.
    """
    kind, _, encoded = secret.partition("_")
    key = _decode(encoded)
    if kind not in ("whsec", "whpk") or not key:
        raise InvalidOptionError("the secret must be a webhook's whsec_… or whpk_…, as Tyche gave it")
    given = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    is_number = timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 12
    if not is_number or abs(time.time() - int(timestamp)) > _TOLERANCE_SECONDS:
        raise WebhookVerificationError(f"the message's time differs by more than {_TOLERANCE_SECONDS} seconds from this machine's")
    content = f"{id}.{timestamp}.".encode() + raw_body
    scheme = "v1," if kind == "whsec" else "v1a,"
    given_signatures = [_decode(one.removeprefix(scheme)) for one in signatures.split(" ") if one.startswith(scheme)]
    if kind == "whsec":
        expected = hmac.digest(key, content, hashlib.sha256)
        is_valid = any(hmac.compare_digest(expected, one) for one in given_signatures)
    else:
        is_valid = any(is_signature(one, content, key) for one in given_signatures)
    if not is_valid:
        raise WebhookVerificationError("no signature of the message fits the secret")
    return cast(WebhookMessage, {**json.loads(raw_body), "id": id})


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
