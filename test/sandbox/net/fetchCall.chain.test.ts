import { expect, test } from "vitest";
import { packMessage, unpackMessage } from "../../../sandbox/guest/hostCalls.ts";
import type { FetchCallResponse } from "../../../sandbox/guest/hostCalls.ts";
import { formatCallMessage, parseCallMessage } from "../../../sandbox/host/net/callMessage.ts";
import { createFetchCall } from "../../../sandbox/host/net/fetchCall.ts";
import { createGuardedFetch } from "../../../sandbox/host/net/guardedFetch.ts";
import { HostCallRefusal } from "../../../sandbox/index.ts";
import { DEFAULT_LIMITS } from "../../../sandbox/limits.ts";
import { echo, startServer } from "./servers.ts";

const server = await startServer((request, response) => void echo(request, response));
const call = createFetchCall(createGuardedFetch({ allowHosts: [server.host] }));
const context = () => ({
  limits: DEFAULT_LIMITS,
  caller: "",
  signal: new AbortController().signal,
  usage: { httpRequests: 0, imports: 0, importedBytes: 0 },
});
const GET = { url: server.origin, method: "GET", headers: [], redirect: "follow", hasBody: false } as const;

async function answerTo(header: object, body?: Uint8Array, used = context()) {
  const answer = unpackMessage((await call(packMessage(header, body), used)) as Uint8Array);
  return { ...(answer.header as FetchCallResponse), text: Buffer.from(answer.body).toString() };
}

test("serves a request from its message and counts it", async () => {
  const used = context();
  const headers = [["x-a", "\u00e9"]];
  const body = new TextEncoder().encode("ü");
  const answer = await answerTo({ ...GET, method: "POST", headers, hasBody: true }, body, used);
  expect(answer).toMatchObject({
    status: 200,
    statusText: "OK",
    url: `${server.origin}/`,
    redirected: false,
  });
  expect(JSON.parse(answer.text)).toMatchObject({ method: "POST", body: "ü" });
  expect(used.usage.httpRequests).toBe(1);
});

test("a failure is the proxy's response, with its kind", async () => {
  const answer = await answerTo({ ...GET, url: "http://10.0.0.1/" });
  expect(answer).toMatchObject({ status: 400, failure: { kind: "refused", message: "fetch failed" } });
  expect(answer.text).toBe('{"error":"Error during fetch request"}');
});

test("the sixth request of a run is answered with 429", async () => {
  const used = context();
  for (let i = 0; i < 5; i += 1) expect(await answerTo(GET, undefined, used)).toMatchObject({ status: 200 });
  const sixth = await answerTo(GET, undefined, used);
  expect(sixth).toMatchObject({ status: 429, text: '{"error":"Exceeded maximum of 5 HTTP queries"}' });
  expect(used.usage.httpRequests).toBe(5);
});

test("messages carry any text and bytes both ways", () => {
  const header = { text: "\u0000é\u2028😀\ud800" };
  const body = Uint8Array.from({ length: 20_000 }, (_, i) => i % 256);
  const toGuest = unpackMessage(formatCallMessage(header, body));
  expect(toGuest).toEqual({ header, body: Buffer.from(body) });
  const toHost = parseCallMessage(packMessage({ text: "é😀" }, body));
  expect(toHost.header).toEqual({ text: "é😀" });
  expect(Buffer.from(toHost.body).equals(body)).toBe(true);
});

test.each([
  ["nothing", new Uint8Array()],
  ["a length past the end", Uint8Array.of(0, 0, 1, 0, 123, 125)],
  ["a header of 4 GiB", Uint8Array.of(255, 255, 255, 255)],
  ["no JSON", packMessage({}).with(4, 0)],
  ["null", Uint8Array.of(0, 0, 0, 4, 110, 117, 108, 108)],
  ["no url", packMessage({ ...GET, url: 5 })],
  ["headers that are no pairs", packMessage({ ...GET, headers: [["a"]] })],
  ["headers that are no list", packMessage({ ...GET, headers: { a: "b" } })],
  ["an unknown redirect mode", packMessage({ ...GET, redirect: "maybe" })],
])("refuses %s", async (_what, message) => {
  await expect(call(message, context())).rejects.toThrow(HostCallRefusal);
});
