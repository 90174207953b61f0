import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { stringToHex, type Hex } from "viem";
import { afterEach, expect, test } from "vitest";
import { connectSecrets } from "../../../src/app/network/connectSecrets.ts";
import { encodeNodeUrls } from "../../../src/chainlink/offchainConfig.ts";
import { createAccount } from "../../../src/evm/account.ts";
import type { ContractsFile } from "../../../src/networks/external/contractsFile.ts";
import {
  encodeGatewayBody,
  checkSender,
  parseGatewayMessage,
  type GatewayBody,
} from "../../../src/oracle/secrets/gatewayMessage.ts";
import { createSecretKeys } from "../../../src/secrets/secretKeys.ts";

const operator = createAccount(Buffer.alloc(32, 1));
const node = createAccount(Buffer.alloc(32, 2));
const stranger = createAccount(Buffer.alloc(32, 3));
const { donPublicKey, thresholdPublicKey, threshold } = createSecretKeys({
  don: new Uint8Array(32).fill(1),
  threshold: new Uint8Array(32).fill(2),
});
const secretKeys = { donPublicKey, thresholdPublicKey };

let oracle: Server | undefined;
afterEach(() => oracle?.close());

/** Starts an oracle that answers each message as told; returns its URL. */
async function serve(answer: (text: string) => Promise<string> | string): Promise<string> {
  oracle = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => void Promise.resolve(answer(text)).then((body) => response.end(body)));
  });
  await new Promise<void>((resolve) => oracle!.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(oracle.address() as AddressInfo).port}`;
}

const connect = (oracleUrl: string | undefined, functions: object = { secretKeys }) =>
  connectSecrets({
    network: "mychain",
    contracts: {
      donId: "fun-mychain",
      oracle: { functions: { signers: [node.address], transmitters: [], ...functions } },
    } as unknown as ContractsFile,
    oracleUrl,
    chain: { operator },
  });
const holderOf = (connected: ReturnType<typeof connect>) => {
  if (typeof connected === "string") throw new Error(connected);
  return connected.holder;
};
const slots = { reference: "0xa0" as Hex, subscriptionId: 7n };
/** Answers as a node does, signed by an account. */
const answerAs =
  (signer: typeof node, payload: object, change: (body: GatewayBody) => GatewayBody = (body) => body) =>
  async (text: string): Promise<string> => {
    const { id, body, sender } = await checkSender(parseGatewayMessage(text));
    expect(sender).toBe(operator.address.toLowerCase());
    const answered = change({ ...body, payload });
    const signature = await signer.signMessage(encodeGatewayBody(answered));
    return JSON.stringify({ jsonrpc: "2.0", id, result: { body: answered, signature } });
  };

test.each([
  [
    "several operators",
    { offchainConfig: encodeNodeUrls(["http://127.0.0.1:1"]) },
    undefined,
    "tyche network secrets mychain",
  ],
  ["contracts without keys", {}, "http://127.0.0.1:1", "without keys for secrets"],
  ["no URL of the oracle", { secretKeys }, undefined, "networks.mychain.oracleUrl"],
])("%s: the reason why there are no secrets", (_, functions, url, reason) => {
  expect(connect(url, functions)).toContain(reason);
});

test("asks the oracle as the operator, and takes what a node has signed", async () => {
  const run = {
    ok: true,
    console: "",
    consoleTruncated: false,
    timeMs: 1,
    memoryBytes: 1,
    httpRequests: 0,
    touched: [],
  };
  const holder = holderOf(
    connect(await serve(answerAs(node, { success: true, run, result: "0x6f6b", shownChars: 9 }))),
  );
  const request = { source: "return 1", args: [], limits: { maxResponseBytes: 256 } };
  expect(await holder.run!(slots, request)).toEqual({
    run: { ...run, bytes: Uint8Array.from(Buffer.from("ok")) },
    shownChars: 9,
  });
});

test("encrypts to a key that was handed on with its first generator, which stays valid", () => {
  const handedOn = stringToHex(JSON.stringify({ ...threshold, G_bar: threshold.H }));
  const holder = holderOf(
    connect("http://127.0.0.1:1", { secretKeys: { ...secretKeys, thresholdPublicKey: handedOn } }),
  );
  expect(holder.threshold).toEqual(threshold);
});

test("what the oracle refuses is the caller's", async () => {
  const holder = holderOf(
    connect(await serve(answerAs(node, { success: false, error_message: "no version 3" }))),
  );
  await expect(holder.describe!(slots)).rejects.toMatchObject({
    code: "secrets_unreadable",
    blame: "caller",
    message: "no version 3",
  });
});

test.each([
  [
    "signed by a stranger",
    answerAs(stranger, { success: true, secrets: [] }),
    "no node of the network has signed",
  ],
  [
    "to another message",
    answerAs(node, { success: true, secrets: [] }, (body) => ({ ...body, message_id: "1" })),
    "no node of the network has signed",
  ],
  [
    "to another question",
    answerAs(node, { success: true, secrets: [] }, (body) => ({ ...body, method: "secrets_list" })),
    "no node of the network has signed",
  ],
  [
    "for another network",
    answerAs(node, { success: true, secrets: [] }, (body) => ({ ...body, don_id: "fun-other" })),
    "no node of the network has signed",
  ],
  [
    "of members that would take gigabytes",
    () => '{"result":{"body":{"message_id":{"length":5000000000}},"signature":"0x00"}}',
    "no node of the network has signed",
  ],
  ["an empty result", () => '{"result":{}}', "no node of the network has signed"],
  ["an error", () => '{"error":{"message":"the nodes are busy"}}', "the nodes are busy"],
  ["no JSON", () => "<html>", "can't be reached"],
  ["signed, and of no list", answerAs(node, { success: true, secrets: 7 }), "malformed answer"],
  ["signed, and of no names", answerAs(node, { success: true, secrets: [{ name: {} }] }), "malformed answer"],
  [
    "nested 100,000 times",
    () => `{"result":{"body":{"message_id":"1","method":"operator_describe","don_id":"","receiver":"",\
"payload":${'{"a":'.repeat(100_000)}0${"}".repeat(100_000)}},"signature":"0x00"}}`,
    "no node of the network has signed",
  ],
  ["too long", () => "x".repeat(1_048_577), "can't be reached"],
])("an answer that is %s", async (_, answer, message) => {
  const holder = holderOf(connect(await serve(answer)));
  await expect(holder.describe!(slots)).rejects.toMatchObject({
    code: "chain_unavailable",
    message: expect.stringContaining(message),
  });
});

const RUN = {
  ok: true,
  console: "",
  consoleTruncated: false,
  timeMs: 1,
  memoryBytes: 1,
  httpRequests: 0,
  touched: [],
};

test.each([
  ["no run", {}],
  ["a result that is no hex", { run: RUN, result: "0x6f6", shownChars: 0 }],
  ["a count that is a text", { run: { ...RUN, memoryBytes: "1" }, shownChars: 0 }],
  ["a console that is a list", { run: { ...RUN, console: [] }, shownChars: 0 }],
  ["an error without a message", { run: { ...RUN, ok: false, error: { kind: "thrown" } }, shownChars: 0 }],
])("a signed answer with %s is no run", async (_, payload) => {
  const holder = holderOf(connect(await serve(answerAs(node, { success: true, ...payload }))));
  const request = { source: "return 1", limits: { maxResponseBytes: 256 } };
  await expect(holder.run!(slots, request)).rejects.toMatchObject({
    code: "chain_unavailable",
    message: expect.stringContaining("malformed answer"),
  });
});

test("a refusal that would take a megabyte of the caller's answer is cut, and one of another shape says nothing", async () => {
  const refusals = [{ error_message: "x".repeat(100_000) }, { error_message: { toString: 1 } }];
  const holder = holderOf(
    connect(await serve((text) => answerAs(node, { success: false, ...refusals.shift() })(text))),
  );
  await expect(holder.describe!(slots)).rejects.toMatchObject({ message: "x".repeat(300) });
  await expect(holder.describe!(slots)).rejects.toMatchObject({ message: "the oracle gives no reason" });
});

test("whoever uses up their messages leaves others theirs", async () => {
  const connected = connect(await serve(() => "{}"));
  if (typeof connected === "string") throw new Error(connected);
  const body = { message_id: "1", method: "secrets_list", don_id: "", receiver: "" } as const;
  const send = (caller: string) =>
    connected.gateway.answer({ id: "1", body, sender: stranger.address }, { text: "{}", caller });
  const sent = await Promise.allSettled(Array.from({ length: 60 }, () => send("a")));
  expect(sent.some(({ status }) => status === "rejected")).toBe(true);
  expect(await send("b")).toEqual({ id: "1" });
});

test("the operator's messages are not passed on for others", async () => {
  const connected = connect(await serve(() => "{}"));
  if (typeof connected === "string") throw new Error(connected);
  const body = {
    message_id: "1",
    method: "operator_drop",
    don_id: "fun-mychain",
    receiver: "",
    payload: {},
  } as const;
  const message = { id: "1", body, sender: operator.address };
  await expect(connected.gateway.answer(message, { text: "{}", caller: "a" })).rejects.toThrow(
    "functions-toolkit only",
  );
});

test("an oracle that is away", async () => {
  const url = await serve(() => "");
  await new Promise((resolve) => oracle!.close(resolve));
  const away = { code: "chain_unavailable", message: expect.not.stringContaining("127.0.0.1") };
  await expect(holderOf(connect(url)).drop("0x", [1])).rejects.toMatchObject(away);
});
