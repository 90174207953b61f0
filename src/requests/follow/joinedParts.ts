import type { Hex } from "viem";
import type { ChainEventOf } from "../../chainlink/events.ts";
import type { RequestFacts, JoinedPart, OpenRequest } from "../openRequest.ts";
import type { WordCharge, WordCharges } from "./wordCharges.ts";

/** Where a word arrived. */
interface Arrival {
  readonly transactionHash: Hex;
  readonly block: number;
}

/** Returns the parts of a join before any of their words has arrived. */
export function partsOf({ keyHashes, parts }: ChainEventOf<"Joining">): readonly JoinedPart[] {
  return parts.map((id, i) => ({ id, keyHash: keyHashes[i]! }));
}

/** Returns the parts whose words are still missing; none for a request without joined words. */
export function missingParts({ progress }: Pick<OpenRequest, "progress">): readonly JoinedPart[] {
  return (progress.parts ?? []).filter(({ block }) => block === undefined);
}

/** Returns the facts that the words of these parts bring when they arrive: the updated parts, and the cost of all words so far. */
export function arrive(
  request: OpenRequest,
  ids: ReadonlySet<Hex>,
  { transactionHash, block }: Arrival,
  charges: WordCharges,
): RequestFacts {
  const chargeOf = (id: Hex): Pick<JoinedPart, "juels" | "wei"> => {
    const { wordJuels, wordWei } = charges(id, request);
    return {
      ...(wordJuels === undefined ? {} : { juels: wordJuels }),
      ...(wordWei === undefined ? {} : { wei: wordWei }),
    };
  };
  return withCosts(
    (request.progress.parts ?? []).map((part) =>
      part.block === undefined && ids.has(part.id)
        ? { ...part, block, transactionHash, ...chargeOf(part.id) }
        : part,
    ),
  );
}

/** Returns the parts without the words that arrived in block `firstReplaced` or later; `undefined` if there are no such words. */
export function departed({ progress }: OpenRequest, firstReplaced: bigint): RequestFacts | undefined {
  const { parts = [] } = progress;
  const isGone = ({ block = -1 }: JoinedPart): boolean => block >= firstReplaced;
  if (!parts.some(isGone)) return undefined;
  return withCosts(parts.map((part) => (isGone(part) ? { id: part.id, keyHash: part.keyHash } : part)));
}

function withCosts(parts: readonly JoinedPart[]): RequestFacts & WordCharge {
  const sumOf = (name: "juels" | "wei"): string | undefined => {
    const known = parts.flatMap((part) => part[name] ?? []);
    return known.length === 0 ? undefined : String(known.reduce((sum, one) => sum + BigInt(one), 0n));
  };
  const [juels, wei] = [sumOf("juels"), sumOf("wei")];
  return {
    parts,
    ...(juels === undefined ? {} : { wordJuels: juels }),
    ...(wei === undefined ? {} : { wordWei: wei }),
  };
}

/** Describes how many words have arrived and whose are missing, in one sentence without a full stop; `undefined` if none is missing. */
export function describeMissing(
  request: Pick<OpenRequest, "progress">,
  operatorOf: ((keyHash: Hex) => Hex | undefined) | undefined,
): string | undefined {
  const missing = missingParts(request);
  const count = request.progress.parts?.length ?? 0;
  if (missing.length === 0) return undefined;
  const names = missing.map(({ keyHash }) => {
    const operator = operatorOf?.(keyHash);
    return operator === undefined ? keyHash : `${keyHash} (operator ${operator})`;
  });
  const [whose, are] = names.length === 1 ? ["word of key hash", "is"] : ["words of key hashes", "are"];
  return `${count - missing.length} of ${count} words have come; the ${whose} ${new Intl.ListFormat("en").format(names)} ${are} missing`;
}
