import type { Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import type { Proposal, Sealed } from "../protocol/message.ts";
import type { RoundRecord } from "../protocol/roundTypes.ts";
import type { Wire } from "../protocol/wire.ts";

/** Stores what a node must not forget, by request, for one configuration of one network. */
export interface RoundJournal {
  /** Returns the records of a request in insertion order. */
  read(requestId: Hex): Promise<readonly string[]>;
  /** Resolves once the record is on disk. */
  append(requestId: Hex, record: string): Promise<void>;
}

/** Encodes a record as JSON. */
export function encodeRecord(record: RoundRecord): string {
  if (record.kind === "proposed")
    return JSON.stringify({ kind: record.kind, message: toHexText(record.sealed.bytes) });
  if (record.kind === "endorsed") return JSON.stringify(record);
  const { kind, salt, observation } = record;
  return JSON.stringify({ kind, salt, ok: observation.ok, bytes: toHexText(observation.bytes) });
}

/** Decodes what {@link encodeRecord} wrote. */
export function decodeRecord(text: string, wire: Wire): RoundRecord {
  const record = JSON.parse(text) as
    | { kind: "proposed"; message: Hex }
    | { kind: "endorsed"; rank: number; digest: Hex }
    | { kind: "observed"; salt: Hex; ok: boolean; bytes: Hex };
  if (record.kind === "proposed")
    return { kind: record.kind, sealed: wire.open(fromHexText(record.message)).sealed as Sealed<Proposal> };
  if (record.kind === "endorsed") return record;
  return {
    kind: record.kind,
    salt: record.salt,
    observation: { ok: record.ok, bytes: fromHexText(record.bytes) },
  };
}
