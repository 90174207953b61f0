import type { Hex } from "viem";
import type { Observation } from "../../../src/oracle/aggregateObservations.ts";
import type { Message, Reveal, Sealed } from "../../../src/oracle/protocol/message.ts";
import type {
  RoundEffect,
  RoundInput,
  RoundOptions,
  RoundRecord,
} from "../../../src/oracle/protocol/roundTypes.ts";
import type { SeededRandom } from "./random.ts";

/** One node's part in a request: `Round` or `DerivedRound`. */
export interface SimulatedRound {
  readonly stage: number;
  handle(input: RoundInput): readonly RoundEffect[];
}

/** The protocol under test: unchanged, or with one rule broken. */
export interface Protocol {
  readonly Round: new (options: RoundOptions, records?: readonly RoundRecord[]) => SimulatedRound;
  /** Whether nodes derive the result, so that all honest ones have the same and sign one report for all stages. */
  readonly isDerived?: boolean;
  readonly agree: (observations: readonly Observation[], faulty: number) => Observation;
}

/** What the honest nodes of a schedule observe. */
export type SourceKind = "same" | "numbers" | "texts" | "errors";

const NO_BYTES = new Uint8Array();

/** Seals without cryptography: nothing in the simulator forges a message of an honest node. */
export function sealed<Of extends Message>(message: Of): Sealed<Of> {
  return { message, bytes: NO_BYTES };
}

/** Returns a commitment that binds and hides well enough for the simulator: nobody looks inside. */
export function commitmentOf({ sender, salt, observation }: Reveal): Hex {
  return `0x${sender}/${salt}/${keyOf(observation)}`;
}

/** Returns the digest of a result at a rank; both can be read from it. */
export function digestOf(rank: number, result: Observation): Hex {
  return `0x${rank}/${keyOf(result)}`;
}

/** Returns a key that distinguishes observations. */
export function keyOf({ ok, bytes }: Observation): string {
  return `${ok ? "+" : "-"}${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")}`;
}

/** Returns what a node observes at one time: other nodes, and the same one asked again, may see something else. */
export function observationOf(kind: SourceKind, random: SeededRandom): Observation {
  if (kind === "numbers") return { ok: true, bytes: numberOf(1_000 + random.below(6)) };
  if (kind === "texts") return { ok: true, bytes: Buffer.from(random.pick(["one", "two", "three"])) };
  if (kind === "errors" && random.chance(0.5)) return { ok: false, bytes: Buffer.from("timed out") };
  return { ok: true, bytes: Buffer.from("same") };
}

/** Returns a uint256 of 32 bytes; `value` must be below 65,536. */
export function numberOf(value: number): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes[30] = value >> 8;
  bytes[31] = value & 0xff;
  return bytes;
}

/** Returns what a wrong node claims to have observed. */
export function lieOf(random: SeededRandom): Observation {
  const lies: readonly Observation[] = [
    { ok: true, bytes: numberOf(9_999) },
    { ok: true, bytes: numberOf(1) },
    { ok: true, bytes: Buffer.from("forged") },
    { ok: false, bytes: Buffer.from("forged") },
  ];
  return random.pick(lies);
}
