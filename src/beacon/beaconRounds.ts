import { setTimeout as sleep } from "node:timers/promises";
import { hexToBytes, isHex } from "viem";
import {
  drandChainHash,
  drandDate,
  drandRoundTime,
  isLocalBeacon,
  roundKey,
  verifyDrandRound,
  type BeaconTerms,
  type DrandRound,
  type LateBeacons,
} from "./drand.ts";
import { describeBeaconWait, LATE_MS, nameBeacon } from "../text/draw.ts";
import { messageOf } from "../lib/errors.ts";
import { parseObject } from "../lib/nodeAnswers.ts";

/** How long a relay may take. */
const RELAY_MS = 5_000;
/** Pauses between attempts: a round comes a moment after its time, and relays may be down for long. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;
/** The clock may jump, so nothing waits for it longer than this at once. */
const LONGEST_WAIT_MS = 30_000;
/** Most bytes of an answer, which has some 250. */
const MAX_ANSWER_BYTES = 4_096;
/** Rounds that are remembered, besides those that are awaited. */
const MAX_ROUNDS = 1_000;
/** A round that is due later than this is not awaited, as each is remembered until then. Far more than what callers wait for, as this machine's clock may be slow. */
const LONGEST_AHEAD_MS = 10_800_000;

/** What is known of a round. */
export type BeaconState =
  | { readonly kind: "known"; readonly signature: Uint8Array }
  /** It will be known: until then, why it isn't. */
  | { readonly kind: "awaited"; readonly why: string }
  /** It is of a chain that is not followed, or too far ahead. */
  | { readonly kind: "never"; readonly why: string };

/** Rounds of drand, for what waits for them. */
export interface BeaconRounds {
  /** Returns what is known of a round. Asks the relays for one that is awaited, and calls `onChange` when it is known, or why it isn't has changed. */
  ask(round: DrandRound, onChange?: () => void): BeaconState;
  /** Returns the Unix time, in seconds, at which a round is due. */
  timeOf(round: DrandRound): number;
}

/**
 * Says to anybody that a request waits for its round, or that the result is late since the round was due; `undefined` if neither holds.
 *
 * @param beacon `time`: `null` of a chain of rounds that isn't known
 * @param hasInputs whether nothing but the round, and the nodes, is missing for the result
 * @param isMissing whether no relay was seen to have the round, though it is late
 */
export function describeBeacon(
  beacon: (Parameters<typeof nameBeacon>[0] & { readonly time: string | null }) | undefined,
  hasInputs: boolean,
  isMissing = false,
): string | undefined {
  if (beacon === undefined || beacon.time === null) return undefined;
  const { time } = beacon;
  const lateMs = Date.now() - Date.parse(time);
  if (lateMs < 0) return describeBeaconWait({ ...beacon, time });
  if (!hasInputs || lateMs < LATE_MS) return undefined;
  const round = nameBeacon(beacon);
  return isMissing
    ? `its result is late: ${round}, which was due at ${time}, has not been received yet`
    : `its result is late: ${round} was due at ${time}`;
}

interface Followed {
  state: BeaconState;
  readonly waiting: Set<() => void>;
}

/**
 * Creates a follower of chains of rounds. All relays are asked at once, and none is believed: a round has one valid signature, and no
 * other round is ever taken for it, however late it is. One that is late is taken from anybody ({@link LateBeacons}).
 *
 * @param options.terms the chains that are followed
 */
export function createBeaconRounds(options: {
  readonly terms: readonly (BeaconTerms | undefined)[];
  readonly signal: AbortSignal;
}): BeaconRounds {
  const { signal } = options;
  const known = new Map(
    options.terms.flatMap((terms) => (terms === undefined ? [] : [[drandChainHash(terms.chain), terms]])),
  );
  /** By chain's hash and round. */
  const followed = new Map<string, Followed>();
  /** Keys of the known ones, oldest first. One that is awaited is never forgotten: it would be asked for again, in the place of another. */
  const knownKeys: string[] = [];

  async function follow({ round, chainHash }: DrandRound, terms: BeaconTerms, one: Followed): Promise<void> {
    const { chain, relays, sign, late } = terms;
    const whose = isLocalBeacon(chain) ? "the local beacon" : "drand";
    const dueMs = drandRoundTime(chain, round) * 1000;
    const due = drandDate(dueMs / 1000) ?? "a time that never comes";
    if (Date.now() < dueMs)
      one.state = { kind: "awaited", why: `waiting for ${whose}'s round ${round}, due at ${due}` };
    await sleepUntil(dueMs, signal);
    const found = new AbortController();
    const stop = AbortSignal.any([signal, found.signal]);
    const reasons = new Map<string, string>();
    /** Asks one relay until it has the round. */
    const poll = async (relay: string): Promise<Uint8Array> => {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
        try {
          const signature = await readRound(`${relay}/${chainHash.slice(2)}/public/${round}`, stop);
          if (verifyDrandRound(chain, round, signature)) return signature;
          throw new Error("its signature is not that round's");
        } catch (error) {
          stop.throwIfAborted();
          reasons.set(relay, `${URL.parse(relay)?.host ?? "a relay"}: ${messageOf(error)}`);
        }
        const said = [...reasons.values()].join("; ");
        const why = `no relay has ${whose}'s round ${round}, which was due at ${due} (${said})`;
        one.state = { kind: "awaited", why };
        for (const onChange of one.waiting) onChange();
        await sleep(pauseMs, undefined, { signal: stop });
      }
    };
    let isLate = false;
    const takeLate = async (anybody: LateBeacons): Promise<Uint8Array> => {
      await sleepUntil(dueMs + LATE_MS, stop);
      isLate = true;
      return await anybody.receive({ round, chainHash }, stop);
    };
    try {
      const signature =
        sign?.(round) ?? (await Promise.any([...relays.map(poll), ...(late ? [takeLate(late)] : [])]));
      one.state = { kind: "known", signature };
      knownKeys.push(roundKey({ round, chainHash }));
      if (knownKeys.length > MAX_ROUNDS) followed.delete(knownKeys.shift()!);
      if (isLate) void late?.settle({ round, chainHash }, signature);
    } finally {
      found.abort();
    }
    const waiting = [...one.waiting];
    one.waiting.clear();
    for (const onChange of waiting) onChange();
  }

  return {
    ask(round, onChange) {
      const terms = known.get(round.chainHash);
      if (terms === undefined)
        return { kind: "never", why: `the oracle doesn't follow the drand chain ${round.chainHash}` };
      if (drandRoundTime(terms.chain, round.round) * 1000 > Date.now() + LONGEST_AHEAD_MS)
        return { kind: "never", why: `round ${round.round} is due in more than three hours` };
      const key = roundKey(round);
      let one = followed.get(key);
      if (one === undefined) {
        one = { state: { kind: "awaited", why: "asking for the round" }, waiting: new Set() };
        followed.set(key, one);
        // It rejects only when the oracle closes.
        follow(round, terms, one).catch(() => undefined);
      }
      if (one.state.kind === "awaited" && onChange !== undefined) one.waiting.add(onChange);
      return one.state;
    },
    timeOf({ round, chainHash }) {
      const terms = known.get(chainHash);
      return terms === undefined ? Infinity : drandRoundTime(terms.chain, round);
    },
  };
}

/** Waits for a time by the clock, which may be set meanwhile. */
async function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  for (let left = ms - Date.now(); left > 0; left = ms - Date.now())
    await sleep(Math.min(left, LONGEST_WAIT_MS), undefined, { signal });
}

/** Reads a round's signature from a relay. */
async function readRound(url: string, closing: AbortSignal): Promise<Uint8Array> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(RELAY_MS)]);
  const response = await fetch(url, { signal, redirect: "error" });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`HTTP status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { signature } = parseObject(JSON.parse(Buffer.concat(chunks).toString()), "round");
  const hex = `0x${String(signature)}`;
  if (!isHex(hex, { strict: true })) throw new Error("its answer has no signature");
  return hexToBytes(hex);
}
