"""Sends calls: retries, deadlines, event streams, and an end to what a cancelled task waits for."""

from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn
from urllib.parse import urlencode, urlsplit

from .api import ERROR_CLASSES
from .errors import ApiError, CallTimeoutError, ConnectionFailedError, InvalidOptionError, TycheError

#: Longest silence of an exchange; the service sends something every 15 s.
_SILENCE_SECONDS = 60.0
_MAX_DELAY_SECONDS = 8.0
_MAX_RETRY_AFTER_SECONDS = 60.0
_MAX_ANSWER_BYTES = 32_000_000
_MAX_LINE_BYTES = 4_000_000
#: Codes of calls that changed nothing and may succeed later.
_PUT_OFF = {"rate_limited", "overloaded", "request_timeout", "chain_unavailable"}


class Abort:
    """Ends, from another thread, what a call is waiting for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._socket: socket.socket | None = None

    def hold(self, connection: socket.socket) -> None:
        with self._lock:
            self._socket = connection
        self.sleep(0)

    def sleep(self, seconds: float) -> None:
        if self._ended.wait(seconds):
            raise TycheError("cancelled", "the call was cancelled")

    def end(self) -> None:
        self._ended.set()
        with self._lock:
            if self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is closed already


#: The abort of the call that this thread works for.
current_abort: ContextVar[Abort] = ContextVar("current_abort", default=Abort())


class Deadline:
    """The time that a call may take, in seconds; None: as long as it takes."""

    def __init__(self, timeout: float | None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout

    def left(self, most: float) -> float:
        """Returns the time that is left, at most `most`. Raises `CallTimeoutError` when none is left."""
        if self._end is None:
            return most
        left = self._end - time.monotonic()
        if left <= 0:
            raise CallTimeoutError(None, None)
        return min(most, left)


class Transport:
    def __init__(self, base_url: str, api_key: str, retries: int, dapp_id: str | None) -> None:
        try:
            parts = urlsplit(base_url)
            host, self._port = parts.hostname, parts.port
        except ValueError:
            host = None
        if not host or parts.scheme not in ("http", "https") or "@" in parts.netloc or parts.query + parts.fragment:
            given = base_url.rpartition("@")[2]
            raise InvalidOptionError(f"base_url is {given!r}; expected the service's http or https URL, such as 'http://127.0.0.1:3000'")
        self.host = host
        self.is_secure = parts.scheme == "https"
        self._prefix = parts.path.rstrip("/")
        self._retries = retries
        self._has_answered = False
        self._headers = {"Authorization": api_key, **({} if dapp_id is None else {"Tyche-Dapp": dapp_id})}
        self._tls = ssl.create_default_context() if self.is_secure else None

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: Deadline = Deadline(None),
        is_once: bool = False,
    ) -> Any:
        """Returns the answer's `data`. Resends a call that did not reach the service, or that the service put off.

        `is_once`: repeating the call would do its work twice, so it is resent only if the service put it off.
        """
        retry = 0
        while True:
            try:
                with self._open(method, path, query, body, headers or {}, deadline) as (response, _):
                    return _read_data(response)
            except (ConnectionFailedError, ApiError) as error:
                if is_once and isinstance(error, ConnectionFailedError):
                    raise
                self._back_off(error, retry, deadline)
                retry += 1

    def follow(self, path: str, deadline: Deadline) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields a request's states as they arrive and then its result, across as many connections as it takes."""
        last = 0
        retry = 0
        while True:
            headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(last)} if last else {})}
            try:
                with self._open("GET", path, None, None, headers, deadline) as (response, connection):
                    if response.status >= 300:
                        _read_data(response)
                    for event, data in _read_events(response, connection, deadline):
                        retry = 0
                        if event == "failure":
                            _raise_api_error(str(data.get("code")), 0, data, None)
                        if event == "state":
                            if data["seq"] <= last:
                                continue
                            last = data["seq"]
                        yield event, data
                        if event == "result":
                            return
                raise ConnectionFailedError("the event stream ended before the request did")
            except (ConnectionFailedError, ApiError) as error:
                self._back_off(error, retry, deadline)
                retry += 1

    @contextmanager
    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        deadline: Deadline,
    ) -> Iterator[tuple[http.client.HTTPResponse, socket.socket]]:
        given = {name: _query_text(value) for name, value in (query or {}).items() if value is not None}
        target = self._prefix + path + (f"?{urlencode(given)}" if given else "")
        sent = {**self._headers, **headers, **({} if body is None else {"Content-Type": "application/json"})}
        for name, value in sent.items():
            if not (value.isascii() and value.isprintable()):
                raise InvalidOptionError(f"the {name} header has a character that can't be sent: use visible ASCII characters")
        content = None if body is None else json.dumps({k: v for k, v in body.items() if v is not None}).encode()
        seconds = deadline.left(_SILENCE_SECONDS)
        connection = (
            http.client.HTTPConnection(self.host, self._port, timeout=seconds)
            if self._tls is None
            else http.client.HTTPSConnection(self.host, self._port, timeout=seconds, context=self._tls)
        )
        try:
            connection.connect()
            held: socket.socket = connection.sock
            current_abort.get().hold(held)
            connection.request(method, target, content, sent)
            response = connection.getresponse()
            self._has_answered = True
            yield response, held
        except (OSError, http.client.HTTPException, ValueError) as error:
            current_abort.get().sleep(0)
            deadline.left(0)
            raise ConnectionFailedError(f"{self.host} can't be reached, or does not answer as Tyche does: {error}") from error
        finally:
            connection.close()

    def _back_off(self, error: TycheError, retry: int, deadline: Deadline) -> None:
        """Waits before the next attempt; raises `error` if there is none."""
        is_put_off = isinstance(error, ApiError) and error.code in _PUT_OFF and error.id is None
        most = self._retries if self._has_answered else min(self._retries, 4)
        asked = error.retry_after or 0.0 if is_put_off and isinstance(error, ApiError) else 0.0
        if retry >= most or asked > _MAX_RETRY_AFTER_SECONDS or not (is_put_off or isinstance(error, ConnectionFailedError)):
            raise error
        # Spreads out clients that were refused at the same time.
        delay = asked + min(0.25 * 2**retry, _MAX_DELAY_SECONDS) * random.uniform(0.5, 1)
        current_abort.get().sleep(deadline.left(delay))


def _query_text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _read_data(response: http.client.HTTPResponse) -> Any:
    status = response.status
    content = response.read(_MAX_ANSWER_BYTES + 1)
    if len(content) > _MAX_ANSWER_BYTES:
        raise TycheError("answer_too_large", f"the answer is larger than {_MAX_ANSWER_BYTES} bytes: ask for a shorter list")
    answer = json.loads(content)
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, dict):
        raise ConnectionFailedError(f"the answer with status {status} is not Tyche's: it has no data")
    if status < 300:
        return data
    asked = response.headers.get("Retry-After", "")
    _raise_api_error(str(data.get("code", f"http_{status}")), status, data, float(asked) if asked.isdecimal() else None)


def _raise_api_error(code: str, status: int, data: dict[str, Any], retry_after: float | None) -> NoReturn:
    raise ERROR_CLASSES.get(code, ApiError)(code, status, data, retry_after)


def _read_events(response: http.client.HTTPResponse, connection: socket.socket, deadline: Deadline) -> Iterator[tuple[str, dict[str, Any]]]:
    """Reads server-sent events with their `data` (HTML Living Standard, section 9.2.6), as the service writes them."""
    event = "message"
    lines: list[str] = []
    while True:
        connection.settimeout(deadline.left(_SILENCE_SECONDS))
        current_abort.get().hold(connection)
        line = response.readline(_MAX_LINE_BYTES).decode()
        if not line.endswith("\n"):
            return
        text = line.rstrip("\r\n")
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            event = value
        elif name == "data":
            lines.append(value)
        elif text == "":
            if lines:
                yield event, json.loads("\n".join(lines))["data"]
            event = "message"
            lines = []
