import type { BeaconView, RequestView, ReturnType } from "../../../../client/index.ts";
import { beaconOf } from "../../../../text/draw.ts";

/** What the playground edits: a source and how to run it. */
export interface Draft {
  readonly source: string;
  readonly args: readonly string[];
  readonly returnType: ReturnType;
  readonly network: string;
  /** Names of the dapp's secrets that it reads; absent: none. */
  readonly secrets?: readonly string[] | undefined;
  /** What it waits for, to get a word; absent: nothing. */
  readonly beacon?: (typeof BEACONS)[number] | undefined;
}

export const BEACONS = ["drand", "local"] as const;

export const RETURN_TYPES = ["string", "uint256", "int256"] as const satisfies readonly ReturnType[];

/** Parses an untrusted value as a draft; returns `undefined` if it is not one. */
export function findDraft(value: unknown): Draft | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { source, args, returnType, network, secrets, ...rest } = value as Readonly<Record<string, unknown>>;
  const beacon = BEACONS.find((one) => one === rest["beacon"]);
  const knownType = RETURN_TYPES.find((one) => one === returnType);
  if (typeof source !== "string" || typeof network !== "string" || knownType === undefined) return undefined;
  if (!isTexts(args)) return undefined;
  return {
    source,
    args,
    returnType: knownType,
    network,
    ...(isTexts(secrets) && secrets.length > 0 ? { secrets } : {}),
    ...(beacon === undefined ? {} : { beacon }),
  };
}

/** Returns the draft of a function's request; `undefined` for other requests, and once its source was deleted. */
export function findDraftOf({
  kind,
  network,
  params,
}: Pick<RequestView, "kind" | "network" | "params">): Draft | undefined {
  if (kind !== "function") return undefined;
  const { beacon } = params as { readonly beacon?: BeaconView };
  return findDraft({ ...params, network, beacon: beaconOf(beacon) });
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
