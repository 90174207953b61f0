import { encodeFunctionData, getContractAddress, type Abi, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findRevertReason } from "../../src/chainlink/findRevertReason.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { compileSolidity } from "../support/solidity.ts";

const SOURCE = `
pragma solidity 0.8.19;
contract Reverts {
  error NoSuchProvingKey(bytes32 keyHash);
  uint256 private written;
  function text() external { written = 1; revert("no luck"); }
  function silent() external { written = 1; revert(); }
  function panic(uint256 zero) external { written = 1 / zero; }
  function named() external { written = 1; revert NoSuchProvingKey(bytes32(uint256(7))); }
  function burn() external { while (true) written += 1; }
  function write() external { for (uint256 i = 0; i < 20; i++) written += 1; }
  function callWrite() external {
    (bool success, ) = address(this).call{gas: gasleft() / 2}(abi.encodeWithSignature("write()"));
    if (!success) revert();
  }
}`;

let chain: TestChain;
let contract: Hex;
let abi: Abi;
const account = testAccount(0);

beforeAll(async () => {
  chain = await startTestChain();
  const compiled = compileSolidity("Reverts", SOURCE);
  ({ abi } = compiled);
  contract = getContractAddress({ from: account.address, nonce: 0n });
  await chain.send(account, { data: compiled.bytecode });
});
afterAll(() => chain.close());

test.each([
  ["a text", "text", [], 100_000n, { name: "Error", text: "no luck" }],
  ["nothing", "silent", [], 100_000n, { name: undefined, text: "no reason given" }],
  ["a panic", "panic", [0n], 100_000n, { name: "Panic", text: "Panic(0x12): division by zero" }],
  [
    "a custom error",
    "named",
    [],
    100_000n,
    { name: "NoSuchProvingKey", text: `NoSuchProvingKey(0x${"7".padStart(64, "0")})` },
  ],
  [
    "all of its gas",
    "burn",
    [],
    100_000n,
    { name: "OutOfGas", text: "out of gas: all of its 100000 gas was used" },
  ],
  [
    "too little gas for a call that it makes",
    "callWrite",
    [],
    40_000n,
    { name: "OutOfGas", text: "out of gas: 40000 gas is too little for the calls that it makes" },
  ],
] as const)("%s", async (_, functionName, args, gas, reason) => {
  const data = encodeFunctionData({ abi, functionName, args });
  const receipt = await chain.send(account, { to: contract, data, gas });
  expect(receipt.succeeded).toBe(false);
  const call = { from: account.address, to: contract, data, gas };
  expect(await findRevertReason(chain.client, call, receipt)).toEqual(reason);
});
