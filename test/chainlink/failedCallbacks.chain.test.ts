import {
  encodeAbiParameters,
  encodeDeployData,
  getContractAddress,
  parseAbiParameters,
  type Abi,
  type Hex,
} from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explainFailedCallbacks, type CallbackSources } from "../../src/chainlink/failedCallbacks.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { FAILED_REPORT_SUBSCRIPTION, failedReport } from "../support/failedReport.ts";
import { compileSolidity } from "../support/solidity.ts";

/** The first byte of the response selects what the callback does. */
const SOURCE = `
pragma solidity 0.8.19;
contract Consumer {
  error NoSuchProvingKey(bytes32 keyHash);
  address private immutable router;
  uint256 private written;
  constructor(address caller) { router = caller; }
  function handleOracleFulfillment(bytes32, bytes calldata response, bytes calldata) external {
    require(msg.sender == router, "only the router");
    uint8 what = uint8(response[0]);
    written = 1;
    if (what == 1) revert("no luck today");
    if (what == 2) revert NoSuchProvingKey(bytes32(uint256(7)));
    if (what == 3) written = uint8(response[5]);
    if (what == 4) revert();
    if (what == 5) while (true) written += 1;
    if (what == 6) for (uint256 i = 0; i < 1_000; i++) written += 1;
  }
}`;

let chain: TestChain;
let consumer: Hex;
const router = testAccount(0);

beforeAll(async () => {
  chain = await startTestChain();
  const { abi, bytecode } = compileSolidity("Consumer", SOURCE) as { abi: Abi; bytecode: Hex };
  consumer = getContractAddress({ from: router.address, nonce: 0n });
  await chain.send(router, { data: encodeDeployData({ abi, bytecode, args: [router.address] }) });
});
afterAll(() => chain.close());

async function explain(
  response: Hex,
  {
    to = consumer,
    returned = "0x",
    ...sources
  }: Partial<CallbackSources> & { to?: Hex; returned?: Hex } = {},
) {
  const { log, input } = failedReport({ router: router.address, consumer: to, response, returned });
  const findInput = async () => input;
  // Has no transaction with this hash to trace.
  const found = await explainFailedCallbacks([log], { client: chain.client, findInput, ...sources });
  return found.get(log.topics[1]!)?.reason;
}

test.each([
  ["a text", "0x01", "no luck today"],
  ["a custom error", "0x02", `NoSuchProvingKey(0x${"7".padStart(64, "0")})`],
  ["a panic", "0x03", "Panic(0x32): an array index out of bounds"],
  ["nothing", "0x04", "no reason given"],
  ["a loop without end", "0x05", "out of gas: all of its 100000 gas was used"],
  ["too little gas", "0x06", "out of gas: its 100000 gas is too little"],
  ["one that works when repeated", "0x07", undefined],
] as const)("without a trace, repeats the call: %s", async (_, response, reason) => {
  expect(await explain(response)).toBe(reason);
});

test("without a contract", async () => {
  const to = testAccount(5).address.toLowerCase() as Hex;
  expect(await explain("0x01", { to })).toBe(`there is no contract at ${to}`);
});

test("takes the reason that the router logged, shortened", async () => {
  const refused = () => Promise.reject(new Error("not asked"));
  const text = "é".repeat(400);
  const returned: Hex = `0x08c379a0${encodeAbiParameters(parseAbiParameters("string"), [text]).slice(2)}`;
  expect(await explain("0x01", { returned, client: { request: refused } })).toBe(`${"é".repeat(300)}…`);
});

/** A trace in which the router's call of the consumer has these members. */
const traceOf = (call: object) => ({ calls: [{ calls: [{ from: router.address, to: consumer, ...call }] }] });

test.each([
  ["a text", { error: "execution reverted", ...text("from the trace") }, "from the trace"],
  ["out of gas", { error: "out of gas" }, "out of gas: all of its 100000 gas was used"],
  [
    "out of gas further in",
    { error: "execution reverted", calls: [{ error: "out of gas" }] },
    "out of gas: its 100000 gas is too little",
  ],
  ["nothing", { error: "execution reverted" }, "no reason given"],
  ["an invalid instruction", { error: "invalid opcode: INVALID" }, "it ran into an invalid instruction"],
  ["an answer that is no trace", { calls: "none" }, undefined],
] as const)("reads the node's trace: %s", async (_, call, reason) => {
  const { input } = await callbackInput("0x07");
  const request = async (method: string) => {
    if (method === "debug_traceTransaction") return traceOf({ input, ...call });
    throw new RpcError(method, "state is gone", { answered: true });
  };
  expect(await explain("0x07", { client: { request } })).toBe(reason);
});

function text(message: string) {
  const data = encodeAbiParameters(parseAbiParameters("string"), [message]).slice(2);
  return { output: `0x08c379a0${data}` };
}

/** Returns the calldata of the router's call. */
async function callbackInput(response: Hex): Promise<{ readonly input: Hex }> {
  const inputs: Hex[] = [];
  const request = async (method: string, parameters?: readonly unknown[]) => {
    if (method === "eth_call") inputs.push((parameters![0] as { readonly data: Hex }).data);
    throw new Error("gone");
  };
  await explain(response, { client: { request } });
  return { input: inputs[0]! };
}

test.each([
  ["a node that doesn't answer", new Error("gone")],
  ["a node that has no state that old", new RpcError("eth_call", "state is gone", { answered: true })],
])("%s gives none", async (_, error) => {
  expect(await explain("0x01", { client: { request: () => Promise.reject(error) } })).toBeUndefined();
});

test("subscriptions that nobody wants to know about are left out", async () => {
  expect(await explain("0x01", { isWanted: (id) => id !== FAILED_REPORT_SUBSCRIPTION })).toBeUndefined();
});
