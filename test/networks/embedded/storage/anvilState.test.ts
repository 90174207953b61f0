import type { Hex } from "viem";
import { expect, test } from "vitest";
import { KEPT_HEADERS, compactState } from "../../../../src/networks/embedded/storage/anvilState.ts";
import type { AnvilAccount, AnvilState } from "../../../../src/networks/embedded/storage/anvilState.ts";

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

test("zeros, transactions and old headers are left out, all else stays", () => {
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
