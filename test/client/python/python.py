"""Tests of the Python client against a running service; python.service.test.ts runs it."""

import asyncio
import json
import os
import socket
import threading
import unittest
from urllib.parse import urlsplit

import tyche as client
from tyche import AsyncTyche, Tyche, verify_webhook

URL = os.environ["TYCHE_URL"]
DOUBLE = "return Functions.encodeUint256(BigInt(args[0]) * 2n)"


class Sync(unittest.TestCase):
    def setUp(self):
        self.tyche = Tyche()

    def test_results_are_waited_for_and_typed(self):
        dice = self.tyche.preset("nDice", {"numFaces": 6, "numDice": 2}, network="sepolia", label="python dice")
        self.assertEqual((dice["success"], len(dice["value"]), dice["label"]), (True, 2, "python dice"))
        words = self.tyche.random(2, network="sepolia", confirmations=2)
        self.assertEqual(len(words["value"]), 2)
        doubled = self.tyche.run_function(DOUBLE, ["21"], return_type="uint256", network="sepolia")
        self.assertEqual(doubled["value"], "42")
        hash = doubled["url"].rpartition("/")[2]
        self.assertEqual(self.tyche.verify(hash, network="sepolia")["verdict"], "valid")

    def test_calls_with_one_key_are_one_call(self):
        id = self.tyche.submit_preset("coinflip", network="sepolia", idempotency_key="python-1")
        again = self.tyche.preset("coinflip", network="sepolia", idempotency_key="python-1")
        self.assertEqual(again["id"], id)

    def test_states_are_told_until_the_result(self):
        told = []
        result = self.tyche.random(network="sepolia", on_state=told.append)
        self.assertEqual([told[0]["state"], told[-1]["state"]], ["received", "fulfilled"])
        self.assertEqual(list(self.tyche.stream(result["id"])), told)
        self.assertEqual(self.tyche.wait(result["id"])["value"], result["value"])
        self.assertEqual(self.tyche.request(result["id"])["state"], "fulfilled")

    def test_a_stream_that_breaks_off_is_resumed(self):
        id = self.tyche.submit_random(network="sepolia")
        expected = list(self.tyche.stream(id))
        with CuttingProxy() as url:
            self.assertEqual(list(Tyche(url).stream(id)), expected)

    def test_lists_turn_their_pages(self):
        first, second = self.tyche.random(network="sepolia"), self.tyche.random(network="sepolia")
        page = self.tyche.requests(limit=1, kind="random")
        self.assertEqual([one["id"] for one in page["items"]], [second["id"]])
        page = self.tyche.requests(limit=1, kind="random", cursor=page["nextCursor"])
        self.assertEqual([one["id"] for one in page["items"]], [first["id"]])
        ids = [one["id"] for one in self.tyche.each_request(kind="random")]
        self.assertEqual(ids[:2], [second["id"], first["id"]])
        self.assertEqual(sorted(ids, reverse=True), ids)

    def test_errors_have_classes_codes_and_reasons(self):
        with self.assertRaises(client.InvalidParameterError) as caught:
            self.tyche.preset("range", {"min": 2, "max": 1}, network="sepolia")
        self.assertEqual((caught.exception.code, caught.exception.status), ("invalid_parameter", 400))
        self.assertTrue(caught.exception.details[0]["message"])
        with self.assertRaises(client.FunctionFailedError) as failed:
            self.tyche.run_function("\nthrow Error('no price')", network="sepolia")
        self.assertEqual((str(failed.exception), failed.exception.line), ("no price", 2))
        with self.assertRaises(client.UnauthenticatedError):
            Tyche(api_key="unknown").presets()
        once = {"network": "sepolia", "label": "python once", "once": True}
        drawn = self.tyche.preset("coinflip", **once)
        with self.assertRaises(client.LabelTakenError) as taken:
            self.tyche.preset("coinflip", **once)
        self.assertEqual(taken.exception.id, drawn["id"])
        with self.assertRaises(client.CallTimeoutError) as late:
            self.tyche.wait(drawn["id"], timeout=0)
        self.assertEqual(late.exception.id, drawn["id"])
        with self.assertRaises(client.ConnectionFailedError):
            Tyche("http://127.0.0.1:1", retries=1).presets()
        for url in ("127.0.0.1:3000", "https://user:word@host.example", "ftp://host.example", "http://host.example:x"):
            with self.assertRaises(client.InvalidOptionError) as wrong:
                Tyche(url)
            self.assertNotIn("word", str(wrong.exception))

    def test_secrets_reach_functions_and_nobody_in_clear(self):
        self.tyche.set_secret("PYTHON_KEY", "s3cr3t-value", network="sepolia")
        self.assertIn("PYTHON_KEY", [one["name"] for one in self.tyche.secrets()])
        source = "return Functions.encodeUint256(secrets.PYTHON_KEY.length)"
        call = {"secrets": ["PYTHON_KEY"], "return_type": "uint256", "network": "sepolia"}
        self.assertEqual(self.tyche.simulate(source, **call)["parsedResult"], "12")
        given = self.tyche.simulate(source, **call, secret_values={"PYTHON_KEY": "other"})
        self.assertEqual(given["parsedResult"], "5")
        self.assertEqual(self.tyche.run_function(source, **call)["value"], "12")
        self.tyche.delete_secret("PYTHON_KEY", network="sepolia")
        far = Tyche("http://tyche.example.com")
        with self.assertRaises(client.InvalidOptionError):
            far.set_secret("PYTHON_KEY", "s3cr3t-value")
        with self.assertRaises(client.InvalidOptionError):
            far.simulate(source, **call, secret_values={"PYTHON_KEY": "s3cr3t-value"})

    def test_webhooks_are_called_and_verified(self):
        created = self.tyche.call("POST", "/api/webhooks", body={"url": "https://example.com/tyche"})
        self.tyche.call("DELETE", f"/api/webhooks/{created['id']}")
        for body, headers, secret, old in json.loads(os.environ["SIGNED"]):
            message = verify_webhook(body.encode(), headers, secret)
            self.assertEqual((message["id"], message["type"]), ("evt_1", "request.fulfilled"))
            others = (f"{secret.partition('_')[0]}_AAAA", "whsec_AAAA", "whpk_" + "A" * 43 + "=")
            for refused in ((body + " ", headers, secret), (body, old, secret), (body, {}, secret), *((body, headers, one) for one in others)):
                with self.assertRaises(client.WebhookVerificationError):
                    verify_webhook(refused[0].encode(), *refused[1:])
            for wrong in (created["id"], "whsec_", "whpk_é"):
                with self.assertRaises(client.InvalidOptionError):
                    verify_webhook(body.encode(), headers, wrong)


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_calls_run_at_once(self):
        async with AsyncTyche() as tyche:
            states = []
            flips = await asyncio.gather(*(tyche.preset("coinflip", network="sepolia", on_state=states.append) for _ in range(8)))
            self.assertEqual(len({one["id"] for one in flips}), 8)
            self.assertEqual(sum(one["state"] == "fulfilled" for one in states), 8)
            id = await tyche.submit_random(network="sepolia")
            reached = [change["state"] async for change in tyche.stream(id)]
            self.assertEqual(reached[-1], "fulfilled")
            self.assertIn(id, [one["id"] async for one in tyche.each_request(kind="random")])
            with self.assertRaises(client.NotFoundError):
                await tyche.request("req_0")

    async def test_a_cancelled_task_ends_its_exchange(self):
        connected = asyncio.get_running_loop().create_future()
        ended = asyncio.get_running_loop().create_future()

        async def serve(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            connected.set_result(None)
            ended.set_result(await reader.read())
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with AsyncTyche(f"http://127.0.0.1:{port}") as tyche:
                task = asyncio.create_task(tyche.presets())
                await connected
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertEqual(await ended, b"")


class CuttingProxy:
    """Passes connections on to the service, and cuts the first one off after its first event."""

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def __exit__(self, *_):
        self.listener.close()

    def serve(self):
        is_first = True
        while True:
            try:
                taken, _ = self.listener.accept()
            except OSError:
                return
            with taken, socket.create_connection((urlsplit(URL).hostname, urlsplit(URL).port)) as service:
                service.sendall(taken.recv(65_536))
                passed = b""
                while part := service.recv(64):
                    passed += part
                    taken.sendall(part)
                    if is_first and b'"seq":1' in passed:
                        break
            is_first = False


if __name__ == "__main__":
    unittest.main()
