import type { Hex } from "viem";
import type { ReturnType } from "../../lib/vocabulary.ts";
import type { Command, RequestRecord, Service } from "../../requests/service.ts";

/** What {@link RequestRecord.params} holds; which of it follows from the kind. */
interface RequestParams {
  readonly preset: string;
  readonly source: string;
  readonly args: readonly string[];
  readonly returnType: ReturnType;
  readonly numWords: number;
  readonly confirmations: number;
  readonly keyHash: Hex;
  readonly keyHashes?: readonly Hex[];
}

/** Whether all that a request was made of is there, and it is one that can be made again. */
export function isRepeatable({ kind, payloadDeletedAt }: RequestRecord): boolean {
  return payloadDeletedAt === undefined && (kind === "preset" || kind === "function" || kind === "random");
}

/**
 * Returns what asks for the same once more.
 *
 * @throws {InvalidParameterError} when the preset is gone, or takes other parameters by now.
 */
export function commandOf(request: RequestRecord, service: Pick<Service, "parsePresetParams">): Command {
  const { kind, network } = request;
  const params = request.params as RequestParams;
  if (kind === "function") {
    const { source, args, returnType } = params;
    return { kind, network, source, args, returnType };
  }
  if (kind === "random") return { kind, network, ...wordsOf(params) };
  const { preset, ...own } = params;
  return { kind: "preset", network, preset, params: service.parsePresetParams(preset, own, { network }) };
}

/** Writes the call of the API that asks for the same, for a shell that has `TYCHE_URL` and `TYCHE_API_KEY`. */
export function curlOf({ kind, network, params }: RequestRecord): string {
  const { preset, ...own } = params as RequestParams;
  if (kind === "function") return curl("/api/oracleFunctions/runFunction", { network, ...own });
  if (kind === "preset")
    return curl(`/api/vrfv2/presets?${new URLSearchParams({ network, preset }).toString()}`, own);
  return curl("/api/vrfv2/requestRandomNumber", { network, ...wordsOf(own) });
}

/** Of key hashes the request names one, or those whose words it joins. */
function wordsOf({
  numWords,
  confirmations,
  keyHash,
  keyHashes,
}: Pick<RequestParams, "numWords" | "confirmations" | "keyHash" | "keyHashes">) {
  return { numWords, confirmations, ...(keyHashes === undefined ? { keyHash } : { keyHashes }) };
}

function curl(path: string, body: object): string {
  return `curl -sS -X POST "$TYCHE_URL"${quote(path)} \\
  -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' \\
  -d ${quote(JSON.stringify(body, null, 2))}`;
}

/** Within single quotes a POSIX shell takes every character as it is, except for the quote. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
