import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { stringToHex, type Hex } from "viem";
import { afterEach, expect, test } from "vitest";
import { connectSecrets } from "../../../src/app/network/connectSecrets.ts";
import { createAccount } from "../../../src/evm/account.ts";
import type { ContractsFile } from "../../../src/networks/external/contractsFile.ts";
import {
  encodeGatewayBody,
  checkSender,
  parseGatewayMessage,
  type GatewayBody,
} from "../../../src/oracle/secrets/gatewayMessage.ts";

const operator = createAccount(Buffer.alloc(32, 1));
const node = createAccount(Buffer.alloc(32, 2));
const stranger = createAccount(Buffer.alloc(32, 3));
const secretKeys = { donPublicKey: "0x00", thresholdPublicKey: stringToHex('{"Group":"P256"}') } as const;

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
  ["several operators", { secretKeys, offchainConfig: "0x12" }, "http://127.0.0.1:1", "several operators"],
  ["contracts without keys", {}, "http://127.0.0.1:1", "without keys for secrets"],
  ["no URL of the oracle", { secretKeys }, undefined, "networks.mychain.oracleUrl"],
])("error: %s: the reason why there are no secrets", (_, functions, url, reason) => {
  expect(connect(url, functions)).toContain(reason);
});

test("default: asks the oracle as the operator, and takes what a node has signed", async () => {
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
  expect(await holder.run(slots, request)).toEqual({
    run: { ...run, bytes: Uint8Array.from(Buffer.from("ok")) },
    shownChars: 9,
  });
});

test("error: what the oracle refuses is the caller's", async () => {
  const holder = holderOf(
    connect(await serve(answerAs(node, { success: false, error_message: "no version 3" }))),
  );
  await expect(holder.describe(slots)).rejects.toMatchObject({
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
  ["too long", () => "x".repeat(1_048_577), "can't be reached"],
])("error: an answer that is %s", async (_, answer, message) => {
  const holder = holderOf(connect(await serve(answer)));
  await expect(holder.describe(slots)).rejects.toMatchObject({
    code: "chain_unavailable",
    message: expect.stringContaining(message),
  });
});

test("error: the operator's messages are not passed on for others", async () => {
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
  await expect(connected.gateway.answer(message, "{}")).rejects.toThrow("functions-toolkit only");
});

test("error: an oracle that is away", async () => {
  const url = await serve(() => "");
  await new Promise((resolve) => oracle!.close(resolve));
  const away = { code: "chain_unavailable", message: expect.not.stringContaining("127.0.0.1") };
  await expect(holderOf(connect(url)).drop("0x", [1])).rejects.toMatchObject(away);
});
