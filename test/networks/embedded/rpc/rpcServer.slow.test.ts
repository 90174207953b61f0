import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { EMBEDDED_GAS_PRICE_WEI } from "../../../../src/networks/embedded/process/anvil.ts";
import { startEmbeddedNode, type EmbeddedNode } from "../../../../src/networks/embedded/embeddedNode.ts";
import { parseRpcOrigins } from "../../../../src/networks/embedded/rpc/rpcAccess.ts";
import { testAccount } from "../../../support/anvil.ts";

const LISTED = "https://app.example.org";
const EVIL = "http://evil.example";

let folder: string;
let node: EmbeddedNode;
let nonce = 0;
let restarts = 0;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tyche-test-"));
  node = await startEmbeddedNode({
    chainId: 31337,
    folder,
    preferredPort: 0,
    rpcOrigins: [LISTED],
    onCompacted: () => {},
    onRestart: () => (restarts += 1),
    onError: (error) => console.error(error),
  });
  await pay();
  await node.begin(1);
});
afterAll(async () => {
  await node.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates a contract that logs one word in its constructor; returns the number of its block. */
async function pay(): Promise<bigint> {
  const { raw } = await testAccount(0).sign({
    type: "legacy",
    chainId: 31337,
    nonce: nonce++,
    gasPrice: EMBEDDED_GAS_PRICE_WEI,
    gas: 100_000n,
    // log1(0, 0, 42)
    data: "0x602a60006000a1",
  });
  const receipt = await node.client.request("eth_sendRawTransactionSync", [raw]);
  return BigInt((receipt as { blockNumber: string }).blockNumber);
}

/** JSON-RPC's arbitrary values; each test states what it expects. */
type Json = any; // eslint-disable-line typescript/no-explicit-any

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Json;
}

/** Sends a request as a browser, a tool or an attacker would; `fetch` doesn't let us choose Host and Origin. */
const send = async (
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  method = "POST",
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const call = httpRequest(
      node.rpcUrl,
      { method, headers: { "content-type": "application/json", ...headers }, agent: false },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: text === "" ? undefined : JSON.parse(text),
          }),
        );
      },
    );
    call.on("error", reject);
    call.end(method === "POST" ? JSON.stringify(body) : undefined);
  });
const call = (method: string, ...params: readonly unknown[]) => ({ jsonrpc: "2.0", id: 1, method, params });
const url = (): URL => new URL(node.rpcUrl);
const open = async (headers: Readonly<Record<string, string>> = {}): Promise<WebSocket | number> => {
  const socket = new WebSocket(node.rpcUrl.replace("http", "ws"), { headers });
  return new Promise((resolve) => {
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (_, response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    socket.on("error", () => {});
  });
};
const openSocket = async (): Promise<{ socket: WebSocket; messages: Json[] }> => {
  const socket = await open();
  if (typeof socket === "number") throw new Error(`refused with ${socket}`);
  const messages: Json[] = [];
  socket.on("message", (data) => messages.push(JSON.parse((data as Buffer).toString())));
  return { socket, messages };
};
const askOverSocket = async (message: unknown): Promise<Json> => {
  const { socket, messages } = await openSocket();
  socket.send(JSON.stringify(message));
  await expect.poll(() => messages.length).toBe(1);
  socket.terminate();
  return messages[0];
};

test.each([
  ["localhost", 200],
  ["127.0.0.1:1", 200],
  ["127.8.9.1", 200],
  ["[::1]:8545", 200],
  ["rebound.evil.example", 403],
  ["localhost.evil.example", 403],
  ["127.0.0.1.evil.example", 403],
  ["localhost@evil.example", 403],
  ["127.0.0.1:3000@evil.example", 403],
  ["0.0.0.0", 403],
])("Host %s gets %i", async (host, status) => {
  const { status: got, body } = await send(call("eth_chainId"), { host });
  expect(got).toBe(status);
  expect(body.error?.message ?? "use localhost").toContain("use localhost");
  const socket = await open({ host });
  expect(typeof socket === "number" ? socket : 200).toBe(status);
  if (typeof socket !== "number") socket.terminate();
});

test.each([
  [undefined, 200],
  ["http://localhost:5173", 200],
  ["https://127.0.0.1", 200],
  [LISTED, 200],
  [EVIL, 403],
  ["http://localhost.evil.example", 403],
  ["https://app.example.org.evil.example", 403],
  ["http://app.example.org", 403],
  ["chrome-extension://localhost", 403],
  ["null", 403],
])("Origin %s gets %i, and only an allowed one is named in the answer", async (origin, status) => {
  const headers = origin === undefined ? {} : { origin };
  const { status: got, headers: answered } = await send(call("eth_chainId"), headers);
  expect(got).toBe(status);
  expect(answered["vary"]).toBe("Origin");
  expect(answered["access-control-allow-origin"]).toBe(status === 200 ? origin : undefined);
  const preflight = await send(undefined, headers, "OPTIONS");
  expect(preflight.status).toBe(status === 200 ? 204 : status);
  expect(preflight.headers["access-control-allow-origin"]).toBe(status === 200 ? origin : undefined);
  const socket = await open(headers);
  expect(typeof socket === "number" ? socket : 200).toBe(status);
  if (typeof socket !== "number") socket.terminate();
});

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", ""])(
  "a page's simple request with Content-Type %j is not taken",
  async (type) => {
    const before = await node.client.getHead("latest");
    const { status, body } = await send(call("evm_mine"), { "content-type": type });
    expect([status, body.error.message]).toEqual([415, "JSON-RPC takes Content-Type: application/json"]);
    expect(await node.client.getHead("latest")).toEqual(before);
  },
);

test.each(["Host: localhost", "Origin: http://localhost", "Content-Type: application/json"])(
  "a second line %s is 400",
  async (line) => {
    const lines = [
      "POST / HTTP/1.1",
      "Host: localhost",
      "Origin: http://localhost",
      "Content-Type: application/json",
      line,
      "Content-Length: 2",
      "Connection: close",
      "",
      "{}",
    ];
    const socket = connect(Number(url().port), url().hostname);
    socket.end(lines.join("\r\n"));
    let answer = "";
    for await (const chunk of socket) answer += (chunk as Buffer).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  },
);

test.each([
  "anvil_reset",
  "hardhat_reset",
  "evm_reset",
  "anvil_loadState",
  "hardhat_loadState",
  "anvil_dumpState",
  "hardhat_dumpState",
  "anvil_setRpcUrl",
  "anvil_setChainId",
])("%s is refused by HTTP, in a batch and by WebSocket", async (method) => {
  const before = await node.client.getHead("latest");
  const forking = { forking: { jsonRpcUrl: "http://127.0.0.1:1" } };
  const refusal = { id: 1, error: { code: -32_004, message: expect.stringContaining("is refused here") } };
  expect((await send(call(method, forking))).body).toMatchObject(refusal);
  expect((await send([call("eth_chainId"), call(method)])).body[1]).toMatchObject(refusal);
  expect(await askOverSocket(call(method, forking))).toMatchObject(refusal);
  expect((await askOverSocket([call(method)]))[0]).toMatchObject(refusal);
  expect(await node.client.getHead("latest")).toEqual(before);
});

test.each([
  ["anvil_mine", "0x2710"],
  ["hardhat_mine", 10_000],
  ["anvil_mine", "0x2", "0x15181"],
  ["evm_mine", { blocks: 33 }],
  ["evm_mine", { timestamp: 2 ** 32 }],
  ["anvil_mine_detailed", { blocks: "0x21" }],
  ["evm_setIntervalMining", 86_401],
  ["anvil_setBlockTimestampInterval", 86_401],
  ["evm_setNextBlockTimestamp", "0x100000000"],
  ["evm_setNextBlockTimestamp", Date.UTC(2106, 0, 1) / 1_000],
  ["evm_setTime", "4294967296"],
  ["evm_increaseTime", 2 ** 32],
  ["anvil_reorg", { depth: 32, txBlockPairs: [] }],
  ["anvil_reorg", 32, []],
  ["anvil_rollback", 32],
  ["evm_setBlockGasLimit", "0x3b9aca01"],
  ["evm_setBlockGasLimit", "0x1c9c37f"],
  ["anvil_setBlockGasLimit", 1_000_000],
  ["anvil_setNextBlockBaseFeePerGas", "0x746a528800"],
  ["hardhat_setNextBlockBaseFeePerGas", "0x5f5e101"],
  ["eth_call", { to: `0x${"11".repeat(20)}`, gas: "0xffffffffffffffff" }, "latest"],
  ["eth_simulateV1", { blockStateCalls: [{ calls: [{ gas: "0xffffffffff" }] }] }],
  ["debug_traceCall", { to: `0x${"11".repeat(20)}`, gas: "0x2faf080" }, "latest", {}],
  ["debug_traceCall", { to: `0x${"11".repeat(20)}`, gas: "0x2dc6c1" }, "latest", { enableMemory: true }],
  ["debug_traceCall", { gas: "0x2faf080" }, "latest", { tracer: "callTracer" }],
  ["trace_filter", { fromBlock: "0x0", toBlock: "0x100" }],
  ["trace_filter", { fromBlock: "0b0", toBlock: "0x1" }],
  // Anvil parses all of these as numbers.
  ["anvil_mine", "0o23421"],
  ["anvil_mine", "0b10011100010000"],
  ["anvil_mine", "10_000"],
  ["anvil_mine", `0x${"0".repeat(80)}2710`],
  ["anvil_setNextBlockTimestamp", "0o40000000000"],
  ["eth_call", { to: `0x${"11".repeat(20)}`, gas: "0b1001010100000010111110010000000000" }, "latest"],
  ["ots_searchTransactionsBefore", `0x${"11".repeat(20)}`, 0, 1_000],
])("what %s costs is capped (%j)", async (method, ...params) => {
  const excess = {
    error: {
      code: -32_005,
      message: expect.stringMatching(new RegExp(`^${method} takes at (?:most|least) \\d+ `)),
    },
  };
  expect((await send(call(method, ...params))).body).toMatchObject(excess);
  expect(await askOverSocket(call(method, ...params))).toMatchObject(excess);
});

test.each(["constructor", "__proto__", "anvil_constructor", "evm___proto__", "toString"])(
  "%s is no method, whatever else has that name",
  async (method) => {
    const { body } = await send(call(method));
    expect(body.error).toEqual({ code: -32_601, message: `there is no method ${method}` });
    expect(await askOverSocket(call(method))).toMatchObject({ error: { code: -32_601 } });
  },
);

test("a method that there is, with parameters that it doesn't take", async () => {
  expect((await send(call("eth_getBalance", "0x1"))).body.error).toEqual({
    code: -32_602,
    message: "eth_getBalance can't be called with these parameters",
  });
});

test("parameters by name are refused", async () => {
  const named = { ...call("anvil_mine"), params: { blocks: "0x2" } };
  expect((await send(named)).body.error).toEqual({
    code: -32_602,
    message: "anvil_mine takes its parameters as a list",
  });
});

test("an id that is no text, number or null, however deeply nested", async () => {
  const refused = { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "Invalid Request" } };
  expect((await send({ ...call("eth_chainId"), id: { 0: 1 } })).body).toEqual(refused);
  const { socket, messages } = await openSocket();
  const depth = 100_000;
  const nested = `{"jsonrpc":"2.0","id":${"[".repeat(depth)}{"0":1}${"]".repeat(depth)},"method":"eth_chainId"}`;
  for (const message of [nested, `[${nested}]`, JSON.stringify(call("eth_chainId"))]) socket.send(message);
  await expect.poll(() => messages.length).toBe(3);
  expect(messages).toEqual([refused, [refused], { jsonrpc: "2.0", id: 1, result: "0x7a69" }]);
  socket.terminate();
});

const UNREADABLE: readonly [string, string, string][] = [
  ["lists nested 126 deep", "evm_snapshot", `${"[".repeat(127)}${"]".repeat(127)}`],
  ["objects nested 100,000 deep", "eth_call", `[${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}]`],
  ["half a character", "eth_getBalance", String.raw`["\ud800"]`],
  ["half a character in a name", "eth_call", String.raw`[{"\ud800":1}]`],
];

test.each(UNREADABLE)("%s, which Anvil would never answer", async (_, method, params) => {
  const { socket, messages } = await openSocket();
  socket.send(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);
  await expect.poll(() => messages.length).toBe(1);
  expect(messages[0].error).toMatchObject({ code: -32_602, message: expect.stringContaining("nested") });
  socket.terminate();
});

const anvilPid = () => readFileSync(path.join(folder, "anvil.pid"), "utf8");
const MALFORMED_CODES: readonly [string, unknown][] = [
  ["two bytes", "0xef01"],
  ["a short delegation", "0xef0100abab"],
  ["a delegation to 19 bytes", `0xef0100${"ab".repeat(19)}`],
  ["a delegation to 21 bytes", `0xef0100${"ab".repeat(21)}`],
  ["another version", `0xef0101${"ab".repeat(20)}`],
  ["upper-case digits", "0xEF0100ABAB"],
  ["no 0x", "ef0100abab"],
  ["a list of bytes", [0xef, 1, 0]],
];

test.each(MALFORMED_CODES)(
  "code that crashes Anvil is refused by HTTP, in a batch and by WebSocket (%s)",
  async (_, code) => {
    const [pid, before] = [anvilPid(), restarts];
    for (const method of ["anvil_setCode", "hardhat_setCode"]) {
      const refused = call(method, `0x${"13".repeat(20)}`, code);
      const refusal = {
        id: 1,
        error: { code: -32_602, message: expect.stringMatching(new RegExp(`^${method} takes `)) },
      };
      expect((await send(refused)).body).toMatchObject(refusal);
      expect((await send([call("eth_chainId"), refused])).body).toMatchObject([
        { result: "0x7a69" },
        refusal,
      ]);
      expect(await askOverSocket(refused)).toMatchObject(refusal);
    }
    expect((await send(call("eth_chainId"))).body.result).toBe("0x7a69");
    expect([anvilPid(), restarts]).toEqual([pid, before]);
  },
);

test.each([
  ["a delegation", `0xef0100${"ab".repeat(20)}`],
  ["0xef", "0xef"],
  ["0xef00", "0xef0001"],
])("setCode takes %s", async (_, code) => {
  const pid = anvilPid();
  const address = `0x${"14".repeat(20)}`;
  for (const method of ["anvil_setCode", "hardhat_setCode"]) {
    expect((await send(call(method, address, code))).body.error).toBeUndefined();
    expect((await send(call("eth_getCode", address, "latest"))).body.result).toBe(code);
    await send(call(method, address, "0x"));
  }
  expect(anvilPid()).toBe(pid);
});

test.each([
  ["eth_sendRawTransaction", `0x03${"11".repeat(200)}`],
  ["eth_sendRawTransactionSync", `03${"11".repeat(200)}`],
  ["eth_sendTransaction", { from: testAccount(1).address, blobVersionedHashes: [`0x01${"11".repeat(31)}`] }],
])("%s of a transaction with blobs is refused", async (method, transaction) => {
  const message = "transactions with blobs (type 3) can't be sent to this chain";
  expect((await send(call(method, transaction))).body.error).toEqual({ code: -32_602, message });
});

test.each([
  ["debug_traceCall", {}, "latest", { tracer: "{step(){for(;;);},fault(){},result(){}}" }],
  ["debug_traceTransaction", `0x${"11".repeat(32)}`, { tracer: "{result(){},fault(){}}" }],
  ["debug_traceBlockByNumber", "latest", { tracer: ["callTracer"] }],
])("%s by a script is refused", async (method, ...params) => {
  expect((await send(call(method, ...params))).body.error).toMatchObject({
    code: -32_004,
    message: expect.stringContaining("JavaScript"),
  });
});

test("a traced call without gas, or with none, gets the limit", async () => {
  const traceOf = async (gas: object, options: object) =>
    (await send(call("debug_traceCall", { data: "0x00", ...gas }, "latest", options))).body.result;
  for (const gas of [{}, { gas: null }]) {
    expect((await traceOf(gas, {})).structLogs[0].gas).toBeLessThan(3_000_000);
    expect(Number((await traceOf(gas, { tracer: "callTracer" })).gas)).toBeLessThanOrEqual(30_000_000);
  }
});

test("an answer that is too long is refused, alone and in a batch, and the chain goes on", async () => {
  // mstore at 20,480, then an endless loop: each step reports the whole memory.
  const trace = call("debug_traceCall", { data: "0x60006150005260005b600856", gas: "0xfa00" }, "latest", {
    enableMemory: true,
  });
  const refusal = { id: 1, error: { code: -32_005, message: "the answer is too long; ask for less" } };
  const id = call("eth_chainId");
  const [alone, batch] = await Promise.all([send(trace), send([id, trace, id])]);
  expect(alone.body).toMatchObject(refusal);
  expect(batch.body).toMatchObject([{ result: "0x7a69" }, refusal, { result: "0x7a69" }]);
  // Six answers of 6 MB each are too long in total.
  const code = `0x${"00".repeat(3_000_000)}`;
  const codes = Array.from({ length: 6 }, () => call("eth_getCode", `0x${"12".repeat(20)}`, "latest"));
  // Anvil is replaced once traces have made it grow, and forgets what no transaction has set.
  const body = await vi.waitFor(async () => {
    await send(call("anvil_setCode", `0x${"12".repeat(20)}`, code));
    const answers: Json[] = (await send(codes)).body;
    expect(answers.filter(({ result }) => result === code)).toHaveLength(5);
    return answers;
  });
  const refused = body.filter(({ error }: Json) => error?.code === -32_005);
  expect(refused).toMatchObject([{ error: { message: expect.stringContaining("in total") } }]);
  await send(call("anvil_setCode", `0x${"12".repeat(20)}`, "0x"));
});

test.runIf(process.platform === "linux")("Anvil's memory is limited", () => {
  const [pid] = readFileSync(path.join(folder, "anvil.pid"), "utf8").split(" ");
  const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
  expect(limits).toMatch(/^Max data size +4294967296 +4294967296 /m);
});

test("a batch of more than 1,000 calls, a message of more than 16 MB", async () => {
  const { body } = await send(Array.from({ length: 1_001 }, () => call("eth_chainId")));
  expect(body).toMatchObject({
    id: null,
    error: { code: -32_005, message: expect.stringContaining("at most 1000") },
  });
  const large = await send(call("eth_chainId", "a".repeat(17 * 2 ** 20)));
  expect([large.status, large.body.error.message]).toEqual([413, "a message has at most 16777216 bytes"]);
  const { socket } = await openSocket();
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  socket.on("error", () => {});
  socket.send(JSON.stringify(call("eth_chainId", "a".repeat(17 * 2 ** 20))));
  expect(await closed).toBe(1009);
});

test("a search of too many blocks names how to go on", async () => {
  await node.client.request("anvil_mine", ["0x20"]);
  const found = await send(call("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" }));
  expect(found.body.result.length).toBeGreaterThan(0);
  // The range ends at the head, whatever the caller passes.
  const beyond = await send(call("eth_getLogs", { fromBlock: "0x0", toBlock: "0xffffffff" }));
  expect(beyond.body.result).toEqual(found.body.result);
});

test("heads and logs come over WebSocket once their block is on disk, and in order", async () => {
  const { socket, messages } = await openSocket();
  socket.send(JSON.stringify(call("eth_subscribe", "newHeads")));
  socket.send(
    JSON.stringify({ ...call("eth_subscribe", "logs", { topics: [[`0x${"0".repeat(62)}2a`]] }), id: 2 }),
  );
  await expect.poll(() => messages.length).toBe(2);
  const ids = Object.fromEntries(messages.map(({ id, result }) => [id, result]));
  const numbers = [await pay(), await pay(), await pay()];
  const told = (id: number) =>
    messages.filter(({ params }) => params?.subscription === ids[id]).map(({ params }) => params.result);
  await expect.poll(() => told(2).length).toBe(3);
  expect(told(1).map(({ number }) => BigInt(number))).toEqual(numbers);
  expect(told(1)[0]).not.toHaveProperty("transactions");
  expect(told(1)[0]).toHaveProperty("parentHash");
  expect(told(2).map(({ blockNumber }) => BigInt(blockNumber))).toEqual(numbers);
  socket.send(JSON.stringify({ ...call("eth_unsubscribe", ids[1]), id: 3 }));
  await expect.poll(() => messages.at(-1)).toMatchObject({ id: 3, result: true });
  await node.client.request("anvil_reorg", [1, []]);
  await expect
    .poll(() => told(2).at(-1))
    .toMatchObject({ removed: true, blockNumber: `0x${numbers[2]!.toString(16)}` });
  nonce -= 1;
  await pay();
  await expect.poll(() => told(2).length).toBe(5);
  expect(told(1)).toHaveLength(3);
  socket.terminate();
});

test("whatever head a WebSocket told is on the chain after a kill -9 of Anvil", async () => {
  const { socket, messages } = await openSocket();
  socket.send(JSON.stringify(call("eth_subscribe", "newHeads")));
  await expect.poll(() => messages.length).toBe(1);
  const heads = (): Json[] => messages.flatMap(({ params }) => params?.result ?? []);
  const before = restarts;
  for (let i = 0; i < 10; i += 1) await pay();
  // Mining without waiting for the answer: heads are announced as far as it gets.
  const mining = send(call("anvil_mine", "0x20")).catch(() => {});
  await expect.poll(() => heads().length, { interval: 1 }).toBeGreaterThan(10);
  process.kill(Number.parseInt(readFileSync(path.join(folder, "anvil.pid"), "utf8"), 10), "SIGKILL");
  await expect.poll(() => restarts).toBeGreaterThan(before);
  await mining;
  for (const { number, hash } of heads())
    expect(await node.client.getHead(BigInt(number))).toMatchObject({ hash });
  const told = heads().length;
  await pay();
  await expect.poll(() => heads().length).toBeGreaterThan(told);
  socket.terminate();
});

test("automine that is off is a warning, mining by the clock is none", async () => {
  const usual = await node.warnings();
  await send(call("evm_setAutomine", false));
  expect(await node.warnings()).toEqual([...usual, expect.stringContaining("automine is off")]);
  await send(call("evm_setIntervalMining", 5));
  expect(await node.warnings()).toEqual(usual);
  await send(call("evm_setIntervalMining", 0));
  await send(call("evm_setAutomine", true));
  expect(await node.warnings()).toEqual(usual);
});

test("more WebSockets than a chain serves", async () => {
  const sockets = await Promise.all(Array.from({ length: 260 }, () => open()));
  const refused = sockets.filter((socket) => typeof socket === "number");
  expect(new Set(refused)).toEqual(new Set([503]));
  for (const socket of sockets) if (typeof socket !== "number") socket.terminate();
  await expect.poll(async () => typeof (await open())).toBe("object");
});

test("a subscription that there isn't, too many of them, and any over HTTP", async () => {
  expect(await askOverSocket(call("eth_subscribe", "everything"))).toMatchObject({
    error: { code: -32_602 },
  });
  expect((await send(call("eth_subscribe", "newHeads"))).body).toMatchObject({
    error: { code: -32_601, message: "eth_subscribe needs a WebSocket" },
  });
  const many = await askOverSocket(Array.from({ length: 65 }, () => call("eth_subscribe", "newHeads")));
  expect(many[63]).toHaveProperty("result");
  expect(many[64]).toMatchObject({
    error: { code: -32_005, message: expect.stringContaining("at most 64 subscriptions") },
  });
});

test.each(["*", "app.example.org", "https://app.example.org/path", "https://*.example.org", "null"])(
  "%s is no origin to list",
  (entry) => {
    expect(() => parseRpcOrigins([entry])).toThrow(/TYCHE_RPC_ORIGINS must list origins/);
  },
);
