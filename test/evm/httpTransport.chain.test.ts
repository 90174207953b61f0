import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HttpStatusError, openHttp } from "../../src/evm/httpTransport.ts";

const RESULT = JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1" });

let respond: (response: ServerResponse, request: IncomingMessage) => void;
let asked: IncomingMessage[];
let connections: number;
let url: string;
const server = createServer((request, response) => {
  asked.push(request);
  request.resume().once("end", () => respond(response, request));
});

beforeAll(async () => {
  // After a pause of the machine, an idle connection would be closed before the second call.
  server.keepAliveTimeout = 0;
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/key?x=1`;
});

beforeEach(() => {
  server.closeAllConnections();
  asked = [];
  connections = 0;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const ask = () => openHttp(url, 60_000).request("eth_chainId", []);

test("calls go to path and query of the URL, over one connection", async () => {
  respond = (response) => response.end(RESULT);
  const transport = openHttp(url, 60_000);
  expect(await transport.request("eth_chainId", [])).toBe("0x1");
  expect(await transport.request("eth_chainId", [])).toBe("0x1");
  expect(asked.map((request) => request.url)).toEqual(["/v1/key?x=1", "/v1/key?x=1"]);
  expect(connections).toBe(1);
});

test("user and password of the URL become a header", async () => {
  respond = (response) => response.end(RESULT);
  await openHttp(url.replace("//", "//us%3Aer:pass@"), 60_000).request("eth_chainId", []);
  expect(asked[0]!.headers.authorization).toBe(`Basic ${Buffer.from("us:er:pass").toString("base64")}`);
});

test("a compressed answer is read", async () => {
  respond = (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(RESULT));
  expect(await ask()).toBe("0x1");
  expect(asked[0]!.headers["accept-encoding"]).toBe("gzip");
});

test("a compressed answer that is damaged, or breaks off, ends the call", async () => {
  respond = (response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip");
  await expect(ask()).rejects.toThrow("the node can't be reached (Z_DATA_ERROR)");
  respond = (response) =>
    response
      .writeHead(200, { "content-length": 1_000, "content-encoding": "gzip" })
      .write(gzipSync(RESULT), () => response.destroy());
  await expect(ask()).rejects.toThrow(/^the (?:node can't be reached|connection to the node failed)/);
});

test("a redirect is not followed, whatever stands in it", async () => {
  respond = (response) => response.writeHead(307, { location: "/elsewhere" }).end(RESULT);
  await expect(ask()).rejects.toThrow(HttpStatusError);
  expect(asked).toHaveLength(1);
});

test("a gateway's refusal says when to come again", async () => {
  respond = (response) => response.writeHead(429, { "retry-after": "7" }).end(RESULT);
  await expect(ask()).rejects.toMatchObject({ status: 429, retryAfterMs: 7_000 });
});

test("an answer that doesn't come is given up, and so is one that never ends", async () => {
  respond = () => {};
  await expect(openHttp(url, 50).request("eth_chainId", [])).rejects.toThrow("no answer within 50 ms");
  respond = (response) => response.write("{");
  await expect(openHttp(url, 50).request("eth_chainId", [])).rejects.toThrow("no answer within 50 ms");
});

test("an answer of millions of values is not parsed", async () => {
  respond = (response) => response.end(`{"result":[${"{},".repeat(2_000_000)}{}]}`);
  await expect(ask()).rejects.toThrow("the answer is too long; ask for less");
});

test("an answer that doesn't end is too long", async () => {
  respond = (response) => {
    const more = (error?: Error | null): void => void (error ?? response.write("x".repeat(1_048_576), more));
    more();
  };
  await expect(ask()).rejects.toThrow("the answer is too long; ask for less");
});

test("an error of any shape is the node's refusal", async () => {
  respond = (response) => response.end('{"error":{"message":{"toString":1},"code":{"valueOf":1}}}');
  await expect(ask()).rejects.toThrow("the node gives no reason");
});

test("closing ends the calls under way and refuses others", async () => {
  const transport = openHttp(url, 60_000);
  const arrived = new Promise<void>((resolve) => (respond = () => resolve()));
  const call = transport.request("eth_chainId", []).catch(String);
  await arrived;
  transport.close();
  expect(await call).toBe("Error: the connection to the node is closed");
  await expect(transport.request("eth_chainId", [])).rejects.toThrow("the connection to the node is closed");
});

test("nothing of the URL is in the error of a node that can't be reached", async () => {
  const { port } = server.address() as AddressInfo;
  await expect(
    openHttp(`http://user:s3cret@127.0.0.1:1/${port}/k3y`, 60_000).request("eth_chainId", []),
  ).rejects.toThrow(/^the node can't be reached \(ECONNREFUSED\)$/);
});
