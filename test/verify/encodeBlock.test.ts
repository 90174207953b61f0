import { concatHex, hexToBytes, keccak256, numberToHex, toRlp, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { privateKeyToAccount } from "viem/accounts";
import {
  decodeTransaction,
  encodeReceipt,
  encodeTransaction,
  hashOf,
  senderOf,
} from "../../src/verify/encodeBlock.ts";

const TO: Hex = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const NODE = "0x0000000000000000000000000000000000000001";

/** As a node answers `eth_getTransactionByHash` for a transaction of type 4 with one authorization. */
function withAuthorization(authorization: Readonly<Record<string, Hex>>) {
  return {
    type: "0x4",
    chainId: "0x7a69",
    nonce: "0x0",
    maxPriorityFeePerGas: "0x1",
    maxFeePerGas: "0x77359400",
    gas: "0x7a120",
    to: TO,
    value: "0x0",
    input: "0x0011",
    accessList: [],
    authorizationList: [
      { chainId: "0x0", address: NODE, nonce: "0x0", yParity: "0x0", r: "0x5", s: "0x6", ...authorization },
    ],
    yParity: "0x1",
    v: "0x1",
    r: "0x7",
    s: "0x8",
  };
}

test.each([{ topics: [[]] }, { topics: [null] }, { topics: "0x0a" }])(
  "refuses a receipt with $topics as topics",
  ({ topics }) => {
    const logs = [{ address: NODE, topics, data: "0x" }];
    const receipt = { status: "0x1", cumulativeGasUsed: "0x5", logsBloom: "0x", logs };
    expect(() => encodeReceipt(receipt)).toThrow(/^topics? is no (hex|list)$/);
  },
);

describe("an authorization that anyone can put into a block, valid or not (EIP-7702)", () => {
  const MAX_UINT64 = (1n << 64n) - 1n;
  const MAX_UINT256 = (1n << 256n) - 1n;
  test.each([
    ["yParity", 2n],
    ["yParity", 27n],
    ["yParity", 255n],
    ["nonce", MAX_UINT64],
    ["chainId", MAX_UINT256],
    ["r", 0n],
    ["s", MAX_UINT256],
  ])("is hashed as it is with a %s of %d", (name, value) => {
    const quantity: Hex = `0x${value.toString(16)}`;
    const bytes = encodeTransaction(withAuthorization({ [name]: quantity }));
    const part = (member: string, otherwise: Hex): Hex => {
      if (member !== name) return otherwise;
      return value === 0n ? "0x" : numberToHex(value, { size: Math.ceil(value.toString(16).length / 2) });
    };
    const authorization = [
      part("chainId", "0x"),
      NODE,
      part("nonce", "0x"),
      part("yParity", "0x"),
      part("r", "0x05"),
      part("s", "0x06"),
    ] as const;
    const fields = toRlp([
      ...["0x7a69", "0x", "0x01", "0x77359400", "0x07a120", TO, "0x", "0x0011"].map((one) => one as Hex),
      [],
      [authorization],
      "0x01",
      "0x07",
      "0x08",
    ]);
    expect(hashOf(bytes)).toBe(keccak256(concatHex(["0x04", fields])));
    expect(decodeTransaction(bytes)).toEqual({ to: TO, input: "0x0011", chainId: 0x7a69 });
  });
});

test.each([
  ["0x1b", undefined],
  ["0x25", 1],
  ["0x26", 1],
  ["0x1546d71", 11_155_111],
])("reads the chain of a legacy transaction with v = %s (EIP-155)", (v, chainId) => {
  const legacy = { nonce: "0x0", gasPrice: "0x1", gas: "0x5208", to: TO, value: "0x0", input: "0x" };
  expect(decodeTransaction(encodeTransaction({ ...legacy, v, r: "0x5", s: "0x6" })).chainId).toBe(chainId);
});

describe("the sender", () => {
  const account = privateKeyToAccount(keccak256("0x01"));
  const call = { to: TO, data: "0x0011", gas: 21_000n, nonce: 3, value: 5n } as const;
  const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n };

  test.each([
    ["of a legacy transaction without a chain", { ...call, type: "legacy", gasPrice: 7n }],
    ["of a legacy transaction (EIP-155)", { ...call, type: "legacy", gasPrice: 7n, chainId: 11_155_111 }],
    ["of type 1", { ...call, type: "eip2930", gasPrice: 7n, chainId: 1 }],
    ["of type 2", { ...call, ...fees, type: "eip1559", chainId: 1 }],
    ["of type 2 that creates a contract", { ...call, ...fees, to: null, type: "eip1559", chainId: 1 }],
  ] as const)("%s is recovered from its signature", async (_what, transaction) => {
    const signed = await account.signTransaction(transaction);
    expect(senderOf(hexToBytes(signed))).toBe(account.address);
  });

  test("is unknown where the signature is none", () => {
    expect(senderOf(encodeTransaction({ ...withAuthorization({}), r: "0x0" }))).toBeUndefined();
  });
});
