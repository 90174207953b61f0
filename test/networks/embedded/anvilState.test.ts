import type { Hex } from "viem";
import { expect, test } from "vitest";
import { KEPT_HEADERS, compactState } from "../../../src/networks/embedded/anvilState.ts";
import type { AnvilAccount, AnvilState } from "../../../src/networks/embedded/anvilState.ts";

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const slot = (value: number | bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const account = (more: Partial<AnvilAccount> = {}): AnvilAccount => ({
  nonce: 1,
  balance: "0x0",
  code: "0x",
  storage: {},
  ...more,
});
const stateOf = (accounts: Record<Hex, AnvilAccount>, newest = 0): AnvilState => ({
  block: {},
  accounts,
  best_block_number: newest,
  blocks: Array.from({ length: newest + 1 }, (_, number) => ({
    header: { number: `0x${number.toString(16)}` },
    transactions: ["a transaction"],
  })),
  transactions: ["its receipt"],
  historical_states: null,
});
/** INVALID ‖ uint40 subscription ‖ one item: uint16 source, uint8 length, two bytes of arguments. */
const BATCH = ["0xfe", "0000000007", "0001", "02", "8160"].join("");

test("default: zeros, transactions and old headers are left out, all else stays", () => {
  const accounts = {
    [address("1")]: account({ storage: { [slot(1)]: slot(5), [slot(2)]: slot(0) }, code: "0x6000" }),
    [address("2")]: account({ balance: "0x7", nonce: 3 }),
  };
  const { state, zeroSlots, headers } = compactState(stateOf(accounts, 1_000), [123]);
  expect({ zeroSlots, headers }).toEqual({ zeroSlots: 1, headers: 1_001 });
  expect(state.accounts).toEqual({
    ...accounts,
    [address("1")]: account({ storage: { [slot(1)]: slot(5) }, code: "0x6000" }),
  });
  expect(state.transactions).toEqual([]);
  expect(state.blocks).toHaveLength(KEPT_HEADERS + 2);
  expect(state.blocks.slice(0, 3).map(({ header }) => Number(header.number))).toEqual([0, 123, 701]);
  expect(state.blocks.at(-1)).toEqual({ header: { number: "0x3e8" }, transactions: [] });
});

test("behaviour: a batch goes when nothing in storage names it any more", () => {
  const reference: Hex = `0xff${"a".repeat(40)}${"0".repeat(22)}`;
  const accounts = (value: Hex) => ({
    [address("a")]: account({ code: BATCH as Hex }),
    [address("b")]: account({ storage: { [slot(9)]: value } }),
  });
  expect(Object.keys(compactState(stateOf(accounts(reference)), []).state.accounts)).toHaveLength(2);
  expect(Object.keys(compactState(stateOf(accounts(slot(0))), []).state.accounts)).toEqual([address("b")]);
});

test.each([
  ["other code", { code: "0x6001" }],
  ["a chunk of a source, which begins with STOP", { code: BATCH.replace("0xfe", "0x00") }],
  ["a blueprint (EIP-5202)", { code: "0xfe71006001600155" }],
  ["a batch cut short", { code: BATCH.slice(0, -2) }],
  ["a batch with a coin", { code: BATCH, balance: "0x1" }],
  ["a batch that has made contracts", { code: BATCH, nonce: 2 }],
  ["a batch with storage", { code: BATCH, storage: { [slot(1)]: slot(1) } }],
] as const)("behaviour: %s stays", (_name, more) => {
  const accounts = { [address("a")]: account(more as Partial<AnvilAccount>) };
  expect(compactState(stateOf(accounts), []).state.accounts).toEqual(accounts);
});
