"""Verifies the messages of webhooks (Standard Webhooks, HMAC-SHA256)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, TypedDict, cast

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
    """Verifies that whoever has the secret (`whsec_…`) sent a message less than five minutes ago, and parses it.

    `raw_body` is the body as it came. Raises `WebhookVerificationError` for any other message: answer it with 400.
    The keys `whpk_…` of ed25519 webhooks need more than the standard library.
    """
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith("whsec_") or not key:
        raise InvalidOptionError("the secret must be a webhook's whsec_…, as Tyche gave it")
    given = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    is_number = timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 12
    if not is_number or abs(time.time() - int(timestamp)) > _TOLERANCE_SECONDS:
        raise WebhookVerificationError(f"the message's time differs by more than {_TOLERANCE_SECONDS} seconds from this machine's")
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + raw_body, hashlib.sha256)
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split(" ")):
        raise WebhookVerificationError("no signature of the message fits the secret")
    return cast(WebhookMessage, {**json.loads(raw_body), "id": id})
