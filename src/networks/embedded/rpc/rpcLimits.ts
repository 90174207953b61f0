import { EMBEDDED_GAS_PRICE_WEI, KEPT_STATES } from "../process/anvil.ts";

/** Blocks that one call may mine: about 8 MB on disk. */
const MAX_MINED_BLOCKS = 5_000;
/** `evm_mine` mines all its blocks in one go: more would push transactions out of Anvil's memory before they are kept. */
const MAX_MINED_AT_ONCE = 32;
/** Maximum time between two blocks on the chain's clock: a day. */
const MAX_INTERVAL_SECONDS = 86_400;
/**
 * Chainlink's contracts store times in 32 bits, which last until February 2106; after that none of them works, and a clock can't go
 * back. The chain's clock advances by itself, so the last five weeks of that range can't be set.
 */
export const MAX_TIMESTAMP = Date.UTC(2106, 0, 1) / 1_000 - 1;
/** Blocks with a state to go back to, among those that Anvil keeps. */
const MAX_REORG_BLOCKS = KEPT_STATES - 1;
/**
 * Gas of a call that is only simulated: four times that of a block. Anvil itself accepts any number, and a loop could keep it busy for
 * hours.
 */
const MAX_CALL_GAS = 500_000_000n;
/** Gas of a call traced by one of Anvil's own tracers, which keep calls or accounts. */
const MAX_TRACED_CALL_GAS = 30_000_000n;
/** Gas of a call traced step by step: a million gas takes about 300 MB of Anvil's memory even when the stack is short. */
const MAX_STEPPED_CALL_GAS = 3_000_000n;
const MAX_BLOCK_GAS_LIMIT = 1_000_000_000n;
/** The largest transaction of the service or its oracle; one that fits in no block would hold up all the others. */
const MIN_BLOCK_GAS_LIMIT = 30_000_000n;
/**
 * When the base fee exceeds the only gas price, no transaction of the service or its oracle is mined, so nothing brings the base fee
 * down again. A full block raises it by an eighth: from this limit that takes 19 full blocks.
 */
const MAX_BASE_FEE_WEI = EMBEDDED_GAS_PRICE_WEI / 10n;
const MAX_TRACE_FILTER_BLOCKS = 64;
const MAX_PAGE = 100;
/** Calls per request of the methods that take several. */
const MAX_CALLS = 256;

const SENDING_RAW = /^eth_sendRawTransaction(?:Sync)?$/;
const SENDING = /^eth_send(?:Unsigned)?Transaction(?:Sync)?$/;
const SETTING_CODE = /^(?:anvil|hardhat|evm|tenderly)_setCode$/;

type Parameters = readonly unknown[];
/** Returns what is wrong with the parameters, worded to follow the method's name in a sentence. */
type Check = (parameters: Parameters) => string | undefined;

const intervalCheck: Check = ([seconds]) => atMost(seconds, MAX_INTERVAL_SECONDS, "seconds between blocks");
const timestampCheck: Check = ([time]) =>
  atMost(time, MAX_TIMESTAMP, "seconds since 1970, as times are 32 bits in the contracts");
const depthCheck: Check = ([depth]) =>
  atMost(
    typeof depth === "object" && depth !== null ? (depth as { depth?: unknown }).depth : depth,
    MAX_REORG_BLOCKS,
    "blocks back; use evm_snapshot and evm_revert for more",
  );
const mineOptionsCheck: Check = ([options]) =>
  typeof options === "object" && options !== null
    ? (atMost(
        (options as { blocks?: unknown }).blocks,
        MAX_MINED_AT_ONCE,
        "blocks a call; use anvil_mine for more",
      ) ?? timestampCheck([(options as { timestamp?: unknown }).timestamp]))
    : timestampCheck([options]);
const callCheck: Check = (parameters) => gasCheck(parameters, MAX_CALL_GAS) ?? listCheck(parameters);

/** By name without the prefix, because Anvil has most of them under several prefixes. */
const CHEATS = checksBy({
  mine: ([blocks, interval]) =>
    atMost(blocks, MAX_MINED_BLOCKS, "blocks a call") ?? intervalCheck([interval]),
  mine_detailed: mineOptionsCheck,
  setIntervalMining: intervalCheck,
  setBlockTimestampInterval: intervalCheck,
  setTime: timestampCheck,
  setNextBlockTimestamp: timestampCheck,
  // The upper limit depends on the chain's clock: see `limitClock`.
  increaseTime: ([seconds]) => atMost(seconds, MAX_TIMESTAMP, "seconds"),
  reorg: depthCheck,
  rollback: depthCheck,
  setBlockGasLimit: ([limit]) =>
    atMost(limit, MAX_BLOCK_GAS_LIMIT, "gas a block") ?? atLeast(limit, MIN_BLOCK_GAS_LIMIT, "gas a block"),
  setNextBlockBaseFeePerGas: ([fee]) =>
    atMost(fee, MAX_BASE_FEE_WEI, "wei, as the gas price of this chain is fixed"),
});

const CALLS = checksBy({
  evm_mine: mineOptionsCheck,
  eth_call: callCheck,
  eth_estimateGas: callCheck,
  eth_createAccessList: callCheck,
  eth_callMany: callCheck,
  eth_callBundle: callCheck,
  eth_simulateV1: callCheck,
  trace_call: callCheck,
  trace_callMany: callCheck,
  trace_rawTransaction: callCheck,
  debug_traceCall: (parameters) => gasCheck(parameters, tracedGasOf(parameters)),
  trace_filter: ([filter]) => {
    const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: unknown; toBlock?: unknown };
    const unreadable = [fromBlock, toBlock].find((one) => !isTag(one) && quantityOf(one) === undefined);
    const blocks = (quantityOf(toBlock) ?? 0n) - (quantityOf(fromBlock) ?? 0n) + 1n;
    return atMost(unreadable ?? `${blocks < 0n ? 0n : blocks}`, MAX_TRACE_FILTER_BLOCKS, "blocks");
  },
  ots_searchTransactionsBefore: ([, , size]) => atMost(size, MAX_PAGE, "transactions a page"),
  ots_searchTransactionsAfter: ([, , size]) => atMost(size, MAX_PAGE, "transactions a page"),
  ots_getBlockTransactions: ([, , size]) => atMost(size, MAX_PAGE, "transactions a page"),
});

/**
 * Says in one sentence which limit a call exceeds; `undefined` when the call may proceed. Values that aren't numbers are left for
 * Anvil to refuse.
 */
export function excessOf(method: string, parameters: unknown): string | undefined {
  const list = Array.isArray(parameters) ? (parameters as Parameters) : [parameters];
  const cheat = /^(?:anvil|hardhat|evm|tenderly)_(.*)$/.exec(method)?.[1];
  const check = CALLS.get(method) ?? (cheat === undefined ? undefined : CHEATS.get(cheat));
  const excess = check?.(list);
  return excess === undefined ? undefined : `${method} ${excess}`;
}

/** Returns the parameters with a gas limit added where one is missing: a traced call without `gas` would get a whole block's. */
export function bounded(method: string, parameters: unknown): unknown {
  if (method !== "debug_traceCall" || !Array.isArray(parameters)) return parameters;
  const [call, ...rest] = parameters as Parameters;
  if (typeof call !== "object" || call === null) return parameters;
  if (((call as { gas?: unknown }).gas ?? undefined) !== undefined) return parameters;
  return [{ ...call, gas: `0x${tracedGasOf(parameters as Parameters).toString(16)}` }, ...rest];
}

/** Whether a parameter of a `debug_` method asks for a tracer written in JavaScript, which no gas limit bounds. */
export function tracesByScript(method: string, parameters: unknown): boolean {
  if (!method.startsWith("debug_") || !Array.isArray(parameters)) return false;
  return (parameters as Parameters).some((one) => {
    const tracer = (one as { tracer?: unknown } | null)?.tracer ?? undefined;
    return tracer !== undefined && !(typeof tracer === "string" && /^\w*$/.test(tracer));
  });
}

/**
 * Says in one sentence why a call that sets an account's code can't be sent to Anvil; `undefined` for other calls. Anvil 1.7.1 crashes on
 * code that begins with 0xef01 and isn't an EIP-7702 delegation of 23 bytes. It also takes code without `0x` and as a list of bytes; lists
 * are refused unread.
 */
export function codeFaultOf(method: string, parameters: unknown): string | undefined {
  if (!SETTING_CODE.test(method) || !Array.isArray(parameters)) return undefined;
  const code = (parameters as Parameters)[1] ?? undefined;
  if (code === undefined) return undefined;
  if (typeof code !== "string") return `${method} takes the code as text in 0x hexadecimal digits`;
  const digits = code.replace(/^0x/i, "");
  return /^ef01/i.test(digits) && !/^ef0100[0-9a-f]{40}$/i.test(digits)
    ? `${method} takes code that begins with 0xef01 only as an EIP-7702 delegation: 0xef0100 and an address of 20 bytes`
    : undefined;
}

/**
 * Says in one sentence why a transaction with blobs (EIP-4844) can't be sent; `undefined` for other calls. Anvil 1.7.1 takes seconds for
 * the first of them, and puts the blobs themselves under its block's `transactionsRoot`, so that nobody can check a result in the same
 * block.
 */
export function blobFaultOf(method: string, [transaction]: Parameters): string | undefined {
  const hasBlobs = SENDING_RAW.test(method)
    ? /^(?:0x)?03/i.test(String(transaction))
    : SENDING.test(method) &&
      ["blobs", "blobVersionedHashes", "maxFeePerBlobGas", "sidecar"].some(
        (name) =>
          ((transaction as Readonly<Record<string, unknown>> | null)?.[name] ?? undefined) !== undefined,
      );
  return hasBlobs ? "transactions with blobs (type 3) can't be sent to this chain" : undefined;
}

function tracedGasOf([, , options]: Parameters): bigint {
  const tracer = (options as { tracer?: unknown } | null | undefined)?.tracer ?? undefined;
  return tracer === undefined ? MAX_STEPPED_CALL_GAS : MAX_TRACED_CALL_GAS;
}

/** A `Map` by name: callers can send any method name, including those of `Object.prototype`'s members. */
function checksBy(checks: Readonly<Record<string, Check>>): ReadonlyMap<string, Check> {
  return new Map(Object.entries(checks));
}

/** Refuses what it can't read: Anvil accepts further forms of numbers (`0b11`, `0o17`, `1_000`), which would bypass every limit. */
function atMost(value: unknown, limit: number | bigint, what: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const number = quantityOf(value);
  if (number === undefined)
    return `takes at most ${limit} ${what}, as a whole number, or as text in decimal or 0x hexadecimal digits`;
  return number <= BigInt(limit) ? undefined : `takes at most ${limit} ${what}, not ${number}`;
}

/** Leaves values that aren't numbers to {@link atMost}. */
function atLeast(value: unknown, limit: bigint, what: string): string | undefined {
  const number = quantityOf(value);
  return number === undefined || number >= limit
    ? undefined
    : `takes at least ${limit} ${what}, not ${number}`;
}

/** Whether a block parameter is absent or a tag, as opposed to a number. */
function isTag(block: unknown): boolean {
  return block === undefined || block === null || (typeof block === "string" && /^[a-z]+$/.test(block));
}

/** Parses a quantity given as a number, or as decimal or hexadecimal text; `undefined` for anything else. */
export function quantityOf(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? BigInt(value) : undefined;
  if (typeof value !== "string" || value.length > 80 || !/^(?:0x[0-9a-f]+|\d+)$/i.test(value))
    return undefined;
  return BigInt(value);
}

/** Checks every `gas` of a call, however deeply nested in lists of calls. */
function gasCheck(value: unknown, limit: bigint): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const excess =
      key === "gas" || key === "gasLimit" ? atMost(member, limit, "gas a call") : gasCheck(member, limit);
    if (excess !== undefined) return excess;
  }
  return undefined;
}

/** Counts the members of all lists: the blocks, and the calls in each. */
function listCheck(value: unknown): string | undefined {
  const countIn = (one: unknown): number =>
    Array.isArray(one)
      ? one.length + one.reduce((sum: number, member: unknown) => sum + countIn(member), 0)
      : typeof one === "object" && one !== null
        ? Object.values(one).reduce((sum: number, member: unknown) => sum + countIn(member), 0)
        : 0;
  return atMost(countIn(value), MAX_CALLS * 4, "calls and blocks");
}
