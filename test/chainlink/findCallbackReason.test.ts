import { encodeDeployData, getContractAddress, type Abi, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findCallbackReason } from "../../src/chainlink/findCallbackReason.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { compileSolidity } from "../support/solidity.ts";

/** The word selects what the callback does. */
const SOURCE = `
pragma solidity 0.8.19;
contract Consumer {
  error NoSuchProvingKey(bytes32 keyHash);
  address private immutable coordinator;
  uint256 private written;
  constructor(address caller) { coordinator = caller; }
  function rawFulfillRandomWords(uint256 requestId, uint256[] calldata words) external {
    require(msg.sender == coordinator, "only the coordinator");
    written = requestId;
    if (words[0] == 1) revert("no luck today");
    if (words[0] == 2) revert NoSuchProvingKey(bytes32(uint256(7)));
    if (words[0] == 3) written = words[5];
    if (words[0] == 4) revert();
    if (words[0] == 5) while (true) written += 1;
    if (words[0] == 6) for (uint256 i = 0; i < 1_000; i++) written += 1;
  }
}`;

let chain: TestChain;
let consumer: Hex;
const coordinator = testAccount(0);

beforeAll(async () => {
  chain = await startTestChain();
  const { abi, bytecode } = compileSolidity("Consumer", SOURCE) as { abi: Abi; bytecode: Hex };
  consumer = getContractAddress({ from: coordinator.address, nonce: 0n });
  await chain.send(coordinator, { data: encodeDeployData({ abi, bytecode, args: [coordinator.address] }) });
});
afterAll(() => chain.close());

test.each([
  ["a text", 1n, { name: "Error", text: "no luck today" }],
  ["a custom error", 2n, { name: "NoSuchProvingKey", text: `NoSuchProvingKey(0x${"7".padStart(64, "0")})` }],
  ["a panic", 3n, { name: "Panic", text: "Panic(0x32): an array index out of bounds" }],
  ["nothing", 4n, { name: undefined, text: "no reason given" }],
  ["a loop without end", 5n, { name: "OutOfGas", text: "out of gas: all of its 100000 gas was used" }],
  ["too little gas", 6n, { name: "OutOfGas", text: "out of gas: its 100000 gas is too little" }],
  ["one that works", 7n, undefined],
] as const)("behaviour: %s", async (_, word, reason) => {
  const callback = {
    coordinator: coordinator.address,
    consumer,
    requestId: `0x${"ab".repeat(32)}`,
    words: [word],
    gasLimit: 100_000,
  } as const;
  expect(await findCallbackReason(chain.client, callback, 1n)).toEqual(reason);
});

test.each([
  ["a node that doesn't answer", new Error("gone")],
  ["a node that has no state that old", new RpcError("eth_call", "state is gone", { answered: true })],
])("behaviour: %s gives none", async (_, error) => {
  const callback = {
    coordinator: consumer,
    consumer,
    requestId: "0x01",
    words: [1n],
    gasLimit: 100_000,
  } as const;
  const lost = { request: () => Promise.reject(error) };
  expect(await findCallbackReason(lost, callback, 1n)).toBeUndefined();
});
