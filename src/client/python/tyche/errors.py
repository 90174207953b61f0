"""The errors of the client. Branch on the class or on `code`."""

from __future__ import annotations

from typing import Any

__all__ = [
    "ApiError",
    "CallTimeoutError",
    "ConnectionFailedError",
    "FunctionFailedError",
    "InvalidOptionError",
    "TycheError",
    "WebhookVerificationError",
]


class TycheError(Exception):
    """Base class of every error that the client raises."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class InvalidOptionError(TycheError):
    """A base URL, key or value that can't be used. Nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__("invalid_option", message)


class ConnectionFailedError(TycheError):
    """The service can't be reached, or whatever answers at its address is not Tyche. Raised once all retries are used up."""

    def __init__(self, message: str) -> None:
        super().__init__("connection_failed", message)


class CallTimeoutError(TycheError):
    """The call did not end within its `timeout`. The request that it made goes on: wait for it by its id."""

    def __init__(self, id: str | None, why: str | None) -> None:
        super().__init__("timeout", "the call did not end in time" + (f": {why}" if why else ""))
        #: Id of the request, if it is known by then.
        self.id = id
        #: What the request is waiting for.
        self.why = why


class WebhookVerificationError(TycheError):
    """A message was not sent by whoever has the webhook's secret, or not just now. Answer it with 400."""

    def __init__(self, message: str) -> None:
        super().__init__("webhook_unverified", message)


class ApiError(TycheError):
    """An error that the service returned, or that ended a request. Each code has its own subclass; the message says why."""

    def __init__(self, code: str, status: int, data: dict[str, Any], retry_after: float | None = None) -> None:
        err = data.get("err")
        super().__init__(code, err if isinstance(err, str) else f"the service answered {code}")
        #: HTTP status; 0 for a request's failure that a stream reported.
        self.status = status
        #: `{"path": …, "message": …}` for each wrong parameter, or the details of a function's failure.
        self.details: list[dict[str, str]] = data.get("details") or []
        #: Id of the request, if there is one.
        self.id: str | None = data.get("id")
        #: Id by which the operator finds this call in the log, for `internal`.
        self.correlation_id: str | None = data.get("correlationId")
        #: Seconds that the service asks callers to wait before the next call.
        self.retry_after = retry_after


class FunctionFailedError(ApiError):
    """The source failed in the dry run; no transaction was sent."""

    def __init__(self, code: str, status: int, data: dict[str, Any], retry_after: float | None = None) -> None:
        super().__init__(code, status, data, retry_after)
        #: What the source wrote with `console`.
        self.console: str = data.get("console") or ""
        #: Whether it wrote more than that.
        self.console_truncated: bool = data.get("consoleTruncated") is True
        #: What the run took, as far as it was measured.
        self.time_ms: float | None = data.get("timeMs")
        self.memory_bytes: int | None = data.get("memoryBytes")
        self.http_requests: int | None = data.get("httpRequests")
        #: Where in the source it threw, from 1.
        self.line: int | None = data.get("line")
        self.column: int | None = data.get("column")
        #: Page of the application that shows the dry run, unless it became a request.
        self.dry_run_url: str | None = data.get("dryRunUrl")
