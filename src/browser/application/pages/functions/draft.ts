import type { ReturnType } from "../../../../client/index.ts";

/** What the playground edits: a source and how to run it. */
export interface Draft {
  readonly source: string;
  readonly args: readonly string[];
  readonly returnType: ReturnType;
  readonly network: string;
  /** Names of the dapp's secrets that it reads; absent: none. */
  readonly secrets?: readonly string[] | undefined;
}

export const RETURN_TYPES = ["string", "uint256", "int256"] as const satisfies readonly ReturnType[];

/** Parses an untrusted value as a draft; returns `undefined` if it is not one. */
export function findDraft(value: unknown): Draft | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { source, args, returnType, network, secrets } = value as Readonly<Record<string, unknown>>;
  const knownType = RETURN_TYPES.find((one) => one === returnType);
  if (typeof source !== "string" || typeof network !== "string" || knownType === undefined) return undefined;
  if (!isTexts(args)) return undefined;
  return {
    source,
    args,
    returnType: knownType,
    network,
    ...(isTexts(secrets) && secrets.length > 0 ? { secrets } : {}),
  };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
