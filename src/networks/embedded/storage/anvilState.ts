import { gunzipSync } from "node:zlib";
import type { Hex } from "viem";
import type { Connection } from "../../../evm/connection.ts";

/** Headers kept behind the newest one: `BLOCKHASH` reaches 256 blocks back, and reorgs are searched for as far back. */
export const KEPT_HEADERS = 300;
/** keccak256 of the empty string: the code hash of an account without code. */
const EMPTY_CODE_HASH = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
/** One account as Anvil writes it; numbers are `0x` hex except the nonce, which is a JSON number. */
export interface AnvilAccount {
  readonly nonce: number;
  readonly balance: Hex;
  readonly code: Hex;
  /** By slot, 32 bytes each. */
  readonly storage: Readonly<Record<Hex, Hex>>;
}

/** What `anvil_dumpState` returns and `anvil_loadState` takes, in the format of Anvil 1.7.1. */
export interface AnvilState {
  /** Environment of the newest block; `null` leaves the current one. */
  readonly block: object | null;
  readonly accounts: Readonly<Record<Hex, AnvilAccount>>;
  readonly best_block_number: number | null;
  readonly blocks: readonly AnvilBlock[];
  readonly transactions: readonly unknown[];
  readonly historical_states: readonly (readonly [Hex, object])[] | null;
}

/** A header with its transactions; members other than `number` are only passed through. */
export interface AnvilBlock {
  readonly header: { readonly number: Hex };
  readonly transactions: readonly unknown[];
}

/** A state without the data that no later transaction can observe. */
export interface CompactState {
  readonly state: AnvilState;
  /** Length of the dump it was made from, in bytes. */
  readonly bytes: number;
  /** Number of slots left out because they hold zero. */
  readonly zeroSlots: number;
  /** Number of headers in the dump; the state has the last {@link KEPT_HEADERS} and those asked for. */
  readonly headers: number;
}

/**
 * Asks Anvil for its whole state and leaves out the dead weight: slots that are back to zero, old headers, and all transactions, which the history has.
 *
 * Anvil hashes every slot it has ever seen, zero or not, for every block: measured at 0.8 µs per slot.
 *
 * @param keptHeaders numbers of old headers to keep all the same.
 */
export async function dumpCompactState(
  connection: Connection,
  keptHeaders: readonly number[],
): Promise<CompactState> {
  const answer = (await connection.request("anvil_dumpState", [])) as Hex;
  const bytes = gunzipSync(Buffer.from(answer.slice(2), "hex"));
  return { ...compactState(parseDump(bytes), keptHeaders), bytes: bytes.length };
}

/** Parses a dump without its transactions, which make up nine tenths of it and come last. */
function parseDump(bytes: Buffer): AnvilState {
  const end = bytes.indexOf(',"transactions":[{"info":');
  return JSON.parse(
    end < 0
      ? bytes.toString()
      : `${bytes.toString("utf8", 0, end)},"transactions":[],"historical_states":null}`,
  ) as AnvilState;
}

/** See {@link dumpCompactState}. */
export function compactState(dump: AnvilState, keptHeaders: readonly number[]): Omit<CompactState, "bytes"> {
  const accounts: Record<Hex, AnvilAccount> = {};
  let zeroSlots = 0;
  for (const [address, account] of Object.entries(dump.accounts)) {
    const storage: Record<Hex, Hex> = {};
    for (const [slot, value] of Object.entries(account.storage)) {
      if (/^0x0*$/.test(value)) {
        zeroSlots += 1;
        continue;
      }
      storage[slot as Hex] = value;
    }
    accounts[address as Hex] = { ...account, storage };
  }
  const newest = dump.best_block_number!;
  const kept = new Set([0, ...keptHeaders]);
  const blocks = dump.blocks.flatMap(({ header, ...rest }) => {
    const number = Number(header.number);
    return number > newest - KEPT_HEADERS || kept.has(number) ? [{ ...rest, header, transactions: [] }] : [];
  });
  return {
    state: { ...dump, accounts, blocks, transactions: [], historical_states: null },
    zeroSlots,
    headers: dump.blocks.length,
  };
}

export interface SwapOptions {
  /** Hash of the newest block, the one that the state belongs to. */
  readonly headHash: Hex;
  /** Timestamp from which the clock continues, in seconds. */
  readonly timestamp: number;
  /** Whether to drop the old headers too; transactions waiting in Anvil's pool are then lost. */
  readonly dropHeaders: boolean;
}

/**
 * Replaces Anvil's state with a compact one of the same block. No block may be mined meanwhile, and for a few milliseconds
 * contracts have no code.
 *
 * `anvil_loadState` alone only adds. So the state is first loaded as the historical state of the newest block, and the chain
 * is rolled back by zero blocks: that clears Anvil's database and restores the last 256 block hashes to the EVM, which
 * `anvil_loadState` forgets (a proof based on a block from before a restart would fail). The code, which a rollback loses, is
 * then added back.
 */
export async function swapState(
  connection: Connection,
  state: AnvilState,
  { headHash, timestamp, dropHeaders }: SwapOptions,
): Promise<void> {
  const nothing: AnvilState = {
    block: null,
    accounts: {},
    best_block_number: null,
    blocks: [],
    transactions: [],
    historical_states: null,
  };
  const holders = Object.entries(state.accounts).map(([address, { balance, nonce }]) => [
    address,
    { balance, nonce, code_hash: EMPTY_CODE_HASH, code: null },
  ]);
  const past = { accounts: Object.fromEntries(holders), storage: {}, block_hashes: {} };
  const [whole, asPast, present] = [
    dropHeaders ? encodeState(state) : undefined,
    encodeState({ ...nothing, historical_states: [[headHash, past]] }),
    encodeState({ ...nothing, accounts: state.accounts }),
  ];
  if (whole !== undefined) {
    await connection.request("anvil_reset", []);
    await connection.request("anvil_loadState", [whole]);
  }
  await connection.request("anvil_loadState", [asPast]);
  await connection.request("anvil_rollback", [0]);
  await connection.request("anvil_loadState", [present]);
  await connection.request("evm_setTime", [timestamp]);
}

function encodeState(state: AnvilState): Hex {
  return `0x${Buffer.from(JSON.stringify(state)).toString("hex")}`;
}
