"""`Tyche` and `AsyncTyche`: the API, typed."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import os
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, ParamSpec, TypedDict, TypeVar, Unpack, cast
from urllib.parse import quote

from . import api
from .errors import CallTimeoutError, InvalidOptionError, TycheError
from .transport import Abort, Deadline, Transport, current_abort

__all__ = ["AsyncTyche", "PresetOptions", "RandomOptions", "RequestOptions", "Tyche"]

P = ParamSpec("P")
T = TypeVar("T")

#: Called with each state that a request reaches.
OnState = Callable[[api.StateChange], object]

#: Seconds after which the service should answer a call that is still waiting; below the timeout of common proxies.
_EXCHANGE_SECONDS = 25


class RequestOptions(TypedDict, total=False):
    """Options of every call that creates a request."""

    # Default: the only network that the service has, or the API's default.
    network: str
    # What the request is for, on chain for all to see: 1 to 100 characters.
    label: str
    # Whether this must be the only request with the label; raises `LabelTakenError` if it can't be.
    once: bool
    # Calls with the same key are one call: 1 to 255 visible ASCII characters. Default: a random key, so that retries are safe.
    idempotency_key: str


class PresetOptions(RequestOptions, total=False):
    # Blocks before the word is drawn. Default: the network's minimum.
    confirmations: int
    # `drand`: the word follows from a future round of drand too; `local`: of the service's own beacon, which proves nothing.
    beacon: Literal["drand", "local", "none"]


class FunctionOptions(RequestOptions, total=False):
    # Unless it is `none`, the source gets a word that follows from a future round as the last of its `bytesArgs`.
    beacon: Literal["drand", "local", "none"]


class RandomOptions(RequestOptions, total=False):
    confirmations: int
    # 1 to 4 VRF keys; the words of several are joined.
    key_hashes: Sequence[str]


@dataclass
class _Call:
    path: str
    method: str = "POST"
    query: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    key: str | None = None

    def headers(self, prefer: str) -> dict[str, str]:
        return {"Idempotency-Key": self.key or secrets.token_hex(16), "Prefer": prefer}


class Tyche:
    """The API for one dapp; safe to use from several threads.

    `base_url` and `api_key` default to the environment's `TYCHE_URL` and `TYCHE_API_KEY`. A `timeout` is in seconds; without one a call takes
    as long as its request, which the service ends after some minutes.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        retries: int = 8,
        dapp_id: str | None = None,
    ) -> None:
        url = base_url or os.environ.get("TYCHE_URL")
        key = api_key or os.environ.get("TYCHE_API_KEY")
        if not url or not key:
            raise InvalidOptionError("give base_url and api_key, or set TYCHE_URL and TYCHE_API_KEY")
        self._transport = Transport(url, key, retries, dapp_id)

    # Calls that resolve with a result.

    def preset(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_state: OnState | None = None,
        **options: Unpack[PresetOptions],
    ) -> api.PresetResult:
        """Draws with a preset, and waits for the result."""
        return cast(api.PresetResult, self._run(_preset(name, params, options), timeout, on_state))

    def random(
        self,
        num_words: int = 1,
        *,
        timeout: float | None = None,
        on_state: OnState | None = None,
        **options: Unpack[RandomOptions],
    ) -> api.RandomResult:
        """Requests random words, and waits for them."""
        return cast(api.RandomResult, self._run(_random(num_words, options), timeout, on_state))

    def run_function(
        self,
        source: str,
        args: Sequence[str] = (),
        *,
        secrets: Sequence[str] = (),
        return_type: api.ReturnType = "string",
        timeout: float | None = None,
        on_state: OnState | None = None,
        **options: Unpack[FunctionOptions],
    ) -> api.FunctionResult:
        """Runs JavaScript on the oracle network. Raises `FunctionFailedError` if it fails in the dry run; a failure on chain is a result."""
        call = _function(source, args, secrets, return_type, options)
        return cast(api.FunctionResult, self._run(call, timeout, on_state))

    def add_consumer(self, address: str, *, network: str | None = None, timeout: float | None = None) -> api.ConsumerResult:
        """Links a contract to the dapp's subscriptions."""
        call = _Call("/api/vrfv2/addConsumer", query={"network": network, "consumer": address})
        return cast(api.ConsumerResult, self._run(call, timeout, None))

    def remove_consumer(self, address: str, *, network: str | None = None, timeout: float | None = None) -> api.ConsumerResult:
        """Unlinks a contract."""
        call = _Call(f"/api/vrfv2/consumers/{_part(address)}", "DELETE", {"network": network})
        return cast(api.ConsumerResult, self._run(call, timeout, None))

    # The same calls, which return the request's id as soon as the service has stored it.

    def submit_preset(self, name: str, params: Mapping[str, Any] | None = None, **options: Unpack[PresetOptions]) -> str:
        return self._submit(_preset(name, params, options), Deadline(None))

    def submit_random(self, num_words: int = 1, **options: Unpack[RandomOptions]) -> str:
        return self._submit(_random(num_words, options), Deadline(None))

    def submit_function(
        self,
        source: str,
        args: Sequence[str] = (),
        *,
        secrets: Sequence[str] = (),
        return_type: api.ReturnType = "string",
        **options: Unpack[FunctionOptions],
    ) -> str:
        return self._submit(_function(source, args, secrets, return_type, options), Deadline(None))

    # Requests.

    def wait(self, id: str, *, timeout: float | None = None, on_state: OnState | None = None) -> api.Outcome:
        """Returns the result of a request; raises the failure that ended it."""
        return cast(api.Outcome, self._wait(id, Deadline(timeout), on_state))

    def stream(self, id: str, *, timeout: float | None = None) -> Iterator[api.StateChange]:
        """Yields a request's states from the first one to its end; raises the failure that ended it."""
        for event, data in self._transport.follow(f"/api/requests/{_part(id)}", Deadline(timeout)):
            if event == "state":
                yield cast(api.StateChange, data)

    def request(self, id: str) -> api.RequestView:
        return cast(api.RequestView, self.call("GET", f"/api/requests/{_part(id)}"))

    def requests(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        state: api.RequestState | None = None,
        kind: api.RequestKind | None = None,
        network: str | None = None,
    ) -> api.RequestPage:
        """Lists requests, newest first, 20 a page; `each_request` turns the pages."""
        query = {"limit": limit, "cursor": cursor, "state": state, "kind": kind, "network": network}
        return cast(api.RequestPage, self.call("GET", "/api/requests", query=query))

    def each_request(
        self,
        *,
        state: api.RequestState | None = None,
        kind: api.RequestKind | None = None,
        network: str | None = None,
    ) -> Iterator[api.RequestView]:
        """Yields every request, newest first, page by page."""
        cursor: str | None = None
        while True:
            page = self.requests(limit=100, cursor=cursor, state=state, kind=kind, network=network)
            yield from page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    # The rest.

    def simulate(
        self,
        source: str,
        args: Sequence[str] = (),
        *,
        secrets: Sequence[str] = (),
        secret_values: Mapping[str, str] | None = None,
        return_type: api.ReturnType = "string",
        network: str | None = None,
        beacon: Literal["drand", "local", "none"] | None = None,
    ) -> api.SimulateResult:
        """Dry-runs a source; nothing is sent to a chain. `secret_values` are for this run alone, in place of the dapp's; they travel as in `set_secret`."""
        if secret_values:
            self._assert_private()
        body = _function(source, args, secrets, return_type, {}).body or {}
        body = {**body, "network": network, "secretValues": secret_values, "beacon": beacon}
        return cast(api.SimulateResult, self.call("POST", "/api/oracleFunctions/simulate", body=body))

    def set_secret(
        self,
        name: str,
        value: str,
        *,
        network: str | None = None,
        allowed_hosts: Sequence[str] | None = None,
        expires_at: str | None = None,
    ) -> api.SecretView:
        """Stores a secret that functions read as `secrets.NAME`. The service encrypts it as it arrives, so it must travel by https, or stay here."""
        self._assert_private()
        body = {"network": network, "value": value, "allowedHosts": None if allowed_hosts is None else list(allowed_hosts)}
        path = f"/api/secrets/{_part(name)}"
        return cast(api.SecretView, self.call("PUT", path, body={**body, "expiresAt": expires_at}))

    def _assert_private(self) -> None:
        if not (self._transport.is_secure or _is_loopback(self._transport.host)):
            raise InvalidOptionError(f"a secret is not sent to {self._transport.host} in clear: use an https URL")

    def secrets(self, *, network: str | None = None) -> list[api.SecretView]:
        """Lists the names of secrets, never their values."""
        return cast(list[api.SecretView], self.call("GET", "/api/secrets", query={"network": network})["items"])

    def delete_secret(self, name: str, *, network: str | None = None) -> api.SecretView:
        return cast(api.SecretView, self.call("DELETE", f"/api/secrets/{_part(name)}", query={"network": network}))

    def presets(self) -> list[api.PresetView]:
        return cast(list[api.PresetView], self.call("GET", "/api/presets")["items"])

    def networks(self) -> list[api.NetworkView]:
        return cast(list[api.NetworkView], self.call("GET", "/api/networks")["items"])

    def consumers(self, *, network: str | None = None) -> api.ConsumerList:
        """Lists the linked contracts, as the chains have them."""
        return cast(api.ConsumerList, self.call("GET", "/api/vrfv2/consumers", query={"network": network}))

    def usage(self, *, start: str | None = None, end: str | None = None, network: str | None = None) -> api.UsageReport:
        """Reports requests, words, gas and LINK by day (`2026-12-24`) and network. Default: the last 30 days."""
        return cast(api.UsageReport, self.call("GET", "/api/usage", query={"from": start, "to": end, "network": network}))

    def verify(
        self,
        tx: str,
        *,
        network: str | None = None,
        request_id: str | None = None,
        from_block: int | None = None,
        to_block: int | None = None,
    ) -> api.Verification:
        """Has the service check a result against chain data. `tyche verify` checks without trusting the service."""
        blocks = {"fromBlock": from_block, "toBlock": to_block}
        query = {"network": network, "tx": tx, "requestId": request_id, **blocks}
        return cast(api.Verification, self.call("GET", "/api/verify", query=query))

    def faucet(self, address: str, *, network: str | None = None) -> api.FaucetResult:
        """Sends 10 coins and 100 LINK to an address on an embedded chain. Is not repeated if its answer is lost."""
        body = {"address": address, "network": network}
        return cast(api.FaucetResult, self._transport.send("POST", "/api/faucet", body=body, is_once=True))

    def call(
        self,
        method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"],
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Sends any other call of the API, such as those of webhooks and schedules; returns the answer's `data`.

        Members that are `None` are left out. A POST without an idempotency key is not repeated if its answer is lost, unless it makes nothing.
        """
        is_once = method == "POST" and path != "/api/oracleFunctions/simulate"
        return self._transport.send(method, path, query=query, body=body, deadline=Deadline(timeout), is_once=is_once)

    def _run(self, call: _Call, timeout: float | None, on_state: OnState | None) -> Any:
        deadline = Deadline(timeout)
        if on_state is not None:
            return self._wait(self._submit(call, deadline), deadline, on_state)
        try:
            return self._send(call, f"wait={int(deadline.left(_EXCHANGE_SECONDS))}", deadline)
        except api.StillPendingError as error:
            if error.id is None:
                raise
            return self._wait(error.id, deadline, None)

    def _submit(self, call: _Call, deadline: Deadline) -> str:
        return cast(str, self._send(call, "respond-async", deadline)["id"])

    def _send(self, call: _Call, prefer: str, deadline: Deadline) -> Any:
        return self._transport.send(
            call.method, call.path, query=call.query, body=call.body, headers=call.headers(prefer), deadline=deadline
        )

    def _wait(self, id: str, deadline: Deadline, on_state: OnState | None) -> Any:
        try:
            for event, data in self._transport.follow(f"/api/requests/{_part(id)}", deadline):
                if event == "result":
                    return data
                if event == "state" and on_state is not None:
                    on_state(cast(api.StateChange, data))
        except CallTimeoutError:
            try:
                why = self.call("GET", f"/api/requests/{_part(id)}", timeout=5)["why"]
            except TycheError:
                why = None
            raise CallTimeoutError(id, why) from None


def _preset(name: str, params: Mapping[str, Any] | None, options: PresetOptions) -> _Call:
    query = {"preset": name, **options}
    return _Call("/api/vrfv2/presets", query=query, body=dict(params or {}), key=_take_key(query))


def _random(num_words: int, options: RandomOptions) -> _Call:
    body: dict[str, Any] = {"numWords": num_words, **options}
    if "key_hashes" in body:
        body["keyHashes"] = list(body.pop("key_hashes"))
    return _Call("/api/vrfv2/requestRandomNumber", body=body, key=_take_key(body))


def _function(source: str, args: Sequence[str], secrets: Sequence[str], return_type: api.ReturnType, options: FunctionOptions) -> _Call:
    body = {"source": source, "args": list(args), "returnType": return_type, **options}
    if secrets:
        body["secrets"] = list(secrets)
    return _Call("/api/oracleFunctions/runFunction", body=body, key=_take_key(body))


def _take_key(options: dict[str, Any]) -> str | None:
    return cast("str | None", options.pop("idempotency_key", None))


def _part(text: str) -> str:
    return quote(text, safe="")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _in_thread(
    method: Callable[Concatenate[Tyche, P], T],
) -> Callable[Concatenate[AsyncTyche, P], Coroutine[Any, Any, T]]:
    async def call(self: AsyncTyche, /, *args: P.args, **kwargs: P.kwargs) -> T:
        given: dict[str, Any] = kwargs
        on_state = given.get("on_state")
        if on_state is not None:
            given["on_state"] = functools.partial(asyncio.get_running_loop().call_soon_threadsafe, on_state)
        return await self._work(functools.partial(method, self._tyche, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


def _iterated(
    method: Callable[Concatenate[Tyche, P], Iterator[T]],
) -> Callable[Concatenate[AsyncTyche, P], AsyncIterator[T]]:
    async def iterate(self: AsyncTyche, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        items = method(self._tyche, *args, **kwargs)
        end = object()
        while (item := await self._work(functools.partial(next, items, end))) is not end:
            yield cast(T, item)

    functools.update_wrapper(iterate, method)
    return iterate


class AsyncTyche:
    """The methods of `Tyche` for asyncio; each call waits in a thread of its own. Close it, or use it with `async with`.

    A cancelled task ends its call at once; a request that the service has accepted goes on there. `threads` is the most calls at once.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        retries: int = 8,
        dapp_id: str | None = None,
        threads: int = 64,
    ) -> None:
        self._tyche = Tyche(base_url, api_key, retries=retries, dapp_id=dapp_id)
        self._threads = ThreadPoolExecutor(threads, "tyche")

    preset = _in_thread(Tyche.preset)
    random = _in_thread(Tyche.random)
    run_function = _in_thread(Tyche.run_function)
    add_consumer = _in_thread(Tyche.add_consumer)
    remove_consumer = _in_thread(Tyche.remove_consumer)
    submit_preset = _in_thread(Tyche.submit_preset)
    submit_random = _in_thread(Tyche.submit_random)
    submit_function = _in_thread(Tyche.submit_function)
    wait = _in_thread(Tyche.wait)
    stream = _iterated(Tyche.stream)
    request = _in_thread(Tyche.request)
    requests = _in_thread(Tyche.requests)
    each_request = _iterated(Tyche.each_request)
    simulate = _in_thread(Tyche.simulate)
    set_secret = _in_thread(Tyche.set_secret)
    secrets = _in_thread(Tyche.secrets)
    delete_secret = _in_thread(Tyche.delete_secret)
    presets = _in_thread(Tyche.presets)
    networks = _in_thread(Tyche.networks)
    consumers = _in_thread(Tyche.consumers)
    usage = _in_thread(Tyche.usage)
    verify = _in_thread(Tyche.verify)
    faucet = _in_thread(Tyche.faucet)
    call = _in_thread(Tyche.call)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> AsyncTyche:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def _work(self, work: Callable[[], T]) -> T:
        abort = Abort()
        context = copy_context()
        context.run(current_abort.set, abort)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, context.run, work)
        except asyncio.CancelledError:
            abort.end()
            raise
