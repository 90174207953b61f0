import { beaconOf } from "../../../../text/draw.ts";
import { quoteForShell } from "../../../../lib/quoteForShell.ts";
import type { Hex, RequestView, ReturnType } from "../../../../client/index.ts";

/** The parameters that requests may have; the kind determines which ones. */
export interface RequestParams {
  readonly preset: string;
  /** The round of drand that a preset or function waits for. */
  readonly beacon?: { readonly isLocal?: true };
  readonly source: string;
  readonly args: readonly string[];
  readonly secrets?: readonly string[];
  readonly returnType: ReturnType;
  readonly numWords: number;
  readonly confirmations: number;
  readonly keyHash: Hex;
  readonly keyHashes?: readonly Hex[];
}

/** Writes the API call that repeats a request, for a shell that has `TYCHE_URL` and `TYCHE_API_KEY`. */
export function curlOf({ kind, network, params }: Pick<RequestView, "kind" | "network" | "params">): string {
  const { preset, beacon, ...own } = unlabelled(params);
  const named = beaconOf(beacon);
  const waits = named && { beacon: named };
  if (kind === "function") return curl("/api/oracleFunctions/runFunction", { network, ...own, ...waits });
  if (kind === "preset") {
    const query = new URLSearchParams({ network, preset, ...waits });
    return curl(`/api/vrfv2/presets?${query.toString()}`, own);
  }
  return curl("/api/vrfv2/requestRandomNumber", { network, ...wordsOf(own) });
}

/** Returns a request's parameters to repeat it with: with its label it would be another draw of what was drawn. */
export function unlabelled(params: RequestView["params"]): RequestParams {
  const kept = Object.entries(params).filter(([name]) => name !== "label" && name !== "once");
  return Object.fromEntries(kept) as unknown as RequestParams;
}

/**
 * Returns a request's parameters for random words: it names either one key hash, or those whose words it
 * joins.
 */
export function wordsOf({
  numWords,
  confirmations,
  keyHash,
  keyHashes,
}: Pick<RequestParams, "numWords" | "confirmations" | "keyHash" | "keyHashes">) {
  return { numWords, confirmations, ...(keyHashes === undefined ? { keyHash } : { keyHashes }) };
}

function curl(path: string, body: object): string {
  return `curl -sS -X POST "$TYCHE_URL"${quoteForShell(path)} \\
  -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' \\
  -d ${quoteForShell(JSON.stringify(body, null, 2))}`;
}
