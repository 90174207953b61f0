import { setTimeout as sleep } from "node:timers/promises";
import { hexToBytes, type Hex } from "viem";
import {
  roundKey,
  verifyDrandRound,
  type DrandChain,
  type DrandRound,
  type LateBeacons,
} from "../beacon/drand.ts";
import { TycheError } from "../lib/errors.ts";
import { toHexText } from "../lib/hex.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { findLateBeacon, saveLateBeacon, saveLateSignature } from "../store/lateBeacons.ts";
import type { Queryable } from "../store/queryable.ts";

/** Pauses between looks into the database, where another replica may have stored a round. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Bytes of a signature: a compressed point of G1. */
const SIGNATURE_BYTES = 48;

/** How anybody settles the rounds of drand that requests wait for and no relay has. */
export interface LateBeaconCalls {
  /** Returns the signature of a late round. Throws `not_found` for any other, and until it is there. */
  get(round: DrandRound): Promise<Hex>;
  /**
   * Takes the signature of a late round. Does nothing if it is there already. Throws `not_found` for a round that isn't late, and
   * `invalid_parameter` for any other signature.
   *
   * @param admit called before the check of a signature, which takes some 15 ms; throws if its caller had enough of them.
   */
  handIn(round: DrandRound, signature: string, admit: () => Promise<void>): Promise<Hex>;
}

/**
 * Creates what takes late rounds. They are in the database: any replica takes them, and none is lost with a restart.
 *
 * @param options.findChain returns a chain of rounds that the service follows
 */
export function createLateBeacons(options: {
  readonly db: Queryable;
  readonly findChain: (chainHash: Hex) => DrandChain | undefined;
  readonly onError: (error: unknown) => void;
}): LateBeacons & LateBeaconCalls {
  const { db, onError } = options;
  /** What waits in this process, by chain's hash and round. */
  const waiting = new Map<string, Set<AbortController>>();

  const store = async (round: DrandRound, signature: Hex): Promise<void> => {
    await saveLateSignature(db, round, signature);
    for (const waiter of waiting.get(roundKey(round)) ?? []) waiter.abort();
  };

  return {
    async receive(round, signal) {
      const woken = new AbortController();
      const key = roundKey(round);
      const waiters = waiting.get(key) ?? new Set();
      waiting.set(key, waiters.add(woken));
      const ended = AbortSignal.any([signal, woken.signal]);
      try {
        for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
          try {
            const signature = await findLateBeacon(db, round);
            if (signature) return hexToBytes(signature);
            if (signature === undefined) await saveLateBeacon(db, round, Date.now());
          } catch (error) {
            onError(error);
          }
          signal.throwIfAborted();
          // Once woken, it looks again at once, and pauses only if the database fails.
          await sleep(pauseMs, undefined, { signal: woken.signal.aborted ? signal : ended }).catch(() => {});
          signal.throwIfAborted();
        }
      } finally {
        waiters.delete(woken);
        if (waiters.size === 0) waiting.delete(key);
      }
    },
    async settle(round, signature) {
      await store(round, toHexText(signature)).catch(onError);
    },
    async get(round) {
      const signature = await findLateBeacon(db, round);
      if (!signature)
        throw new TycheError(
          signature === null
            ? `round ${round.round} is late: whoever has it can PUT its signature here`
            : `round ${round.round} is none that this service waited for in vain: ask a relay of drand`,
          { code: "not_found", blame: "caller" },
        );
      return signature;
    },
    async handIn(round, text, admit) {
      const known = await findLateBeacon(db, round);
      if (known) return known;
      const chain = options.findChain(round.chainHash);
      if (known === undefined || chain === undefined)
        throw new TycheError(
          `round ${round.round} of this chain is none that a request waits for in vain: a round is taken from a minute after its time on`,
          { code: "not_found", blame: "caller" },
        );
      if (!new RegExp(`^(0x)?[0-9a-f]{${2 * SIGNATURE_BYTES}}$`, "i").test(text))
        throw new InvalidParameterError([
          { path: "/signature", message: `it must be ${SIGNATURE_BYTES} bytes of hex` },
        ]);
      await admit();
      const signature: Hex = `0x${text.slice(-2 * SIGNATURE_BYTES).toLowerCase()}`;
      if (!verifyDrandRound(chain, round.round, hexToBytes(signature)))
        throw new InvalidParameterError([
          { path: "/signature", message: `it is not that of round ${round.round}` },
        ]);
      await store(round, signature);
      return signature;
    },
  };
}
