import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "../support/tyche.ts";

let dataDir: string;
let tyche: TycheProcess;
let host: string;
let asked = 0;
const server = createServer((_, response) => {
  asked += 1;
  if (asked > 1) response.end();
});
const start = async () =>
  await startTycheProcess({ dataDir, networks: ["sepolia"], env: { TYCHE_ALLOW_HOSTS: host } });

beforeAll(async () => {
  dataDir = makeDataDir();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  tyche = await start();
});
afterAll(async () => {
  await tyche.stop();
  server.closeAllConnections();
  server.close();
  removeDataDir(dataDir);
});

/** Returns a source that asks a server which answers only from the second request on: until then it keeps running. */
const slow = (): string => `await fetch("http://${host}/"); return Buffer.from(args[0]);`;

const runLater = (source: string, key: string) =>
  tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source, args: ["hello"] },
    headers: { prefer: "respond-async", "idempotency-key": key },
  });
const stateOf = async (id: string) => (await tyche.call("GET", `/api/requests/${id}`)).data;
const ended = async (id: string) => {
  for (;;) {
    const request = await stateOf(id);
    if (request.state === "fulfilled" || request.state === "failed") return request;
    await sleep(50);
  }
};
const states = (request: { timeline: { state: string }[] }) => request.timeline.map(({ state }) => state);

test("a source that fails its dry run is a request that ended, with the reason", async () => {
  const { status, data } = await runLater("throw new Error('no luck')", "refused");
  expect([status, data.state]).toEqual([202, "checking"]);
  const request = await ended(data.id);
  expect(states(request)).toEqual(["checking", "failed"]);
  expect(request.error).toEqual({
    code: "function_failed",
    message: "the dry run of the source failed: no luck (line 1, column 7)",
  });
  // The same key gives the same answer, and a call that waits gets it in the error table's form.
  const again = await tyche.call("POST", "/api/oracleFunctions/runFunction", {
    body: { network: "sepolia", source: "throw new Error('no luck')", args: ["hello"] },
    headers: { "idempotency-key": "refused" },
  });
  expect([again.status, again.data.id]).toEqual([422, data.id]);
  const listed = await tyche.call("GET", "/api/requests?state=failed");
  expect(listed.data.items.map(({ id }: { id: string }) => id)).toContain(data.id);
});

test("a source that is not JavaScript ends with what is wrong and where, once", async () => {
  const { data } = await runLater("return (;", "syntax");
  expect((await ended(data.id)).error.message).toBe(
    "the dry run of the source failed: syntax error in line 1, column 9: unexpected `;`",
  );
});

test("parameters that can't be used are refused at once, and make no request", async () => {
  const list = Array.from({ length: 6_000 }, (_, index) => `ticket ${index}`);
  const { status, data } = await tyche.call("POST", "/api/vrfv2/presets?network=sepolia&preset=lotto", {
    body: { numberOfWinners: "1", list },
    headers: { prefer: "respond-async" },
  });
  expect([status, data.code]).toEqual([400, "invalid_parameter"]);
  expect(data.details[0]).toEqual({
    path: "/list",
    message: expect.stringMatching(/take \d+ bytes .*at most \d+ fit one request; shorten list/),
  });
});

test("what was being checked when the service was killed is checked again, and goes through once", async () => {
  const { status, data } = await runLater(slow(), "killed");
  expect([status, data.state]).toEqual([202, "checking"]);
  expect((await stateOf(data.id)).why).toContain("dry-run before it is sent");
  await expect.poll(() => asked).toBe(1);
  await tyche.stop("SIGKILL");
  tyche = await start();
  const request = await ended(data.id);
  expect(states(request)).toEqual(["checking", "received", "submitted", "executing", "fulfilled"]);
  expect(request.outcome.parsedResult).toBe("hello");
  expect((await runLater(slow(), "killed")).data).toMatchObject({ success: true, parsedResult: "hello" });
});
