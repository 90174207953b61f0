import { isHex, type Hex } from "viem";
import { TycheError } from "../../lib/errors.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import type { SharedKey } from "../../secrets/keyGeneration.ts";
import { checkShare, makeShare } from "../../secrets/tdh2.ts";
import { askUntil, GATHER_MS, type Seat } from "./keySeat.ts";
import type { Box } from "./sealedBox.ts";
import { SecretsRefusedError } from "./vault.ts";

export const SHARE = "tyche secrets share";

/** A configuration whose nodes have a key. */
export interface Ready {
  readonly own: Seat;
  readonly key: SharedKey;
}

/** A ciphertext that a request on chain names. */
interface Named {
  readonly requestId: Hex;
  readonly digest: Hex;
  /** The point of the ciphertext of which nodes give their shares. */
  readonly u: Uint8Array;
}

/** Returns as many points as open a ciphertext, by node. Throws {@link SharesMissingError}, or a refusal of so many nodes that too few are left. */
export async function gatherShares(
  { own, key }: Ready,
  box: Box,
  { requestId, digest, u }: Named,
): Promise<Map<number, Uint8Array>> {
  const points = new Map<number, Uint8Array>();
  /** By node: why it refuses now. A node that an upload has yet to reach refuses too, so each is asked again. */
  const refusals = new Map<number, string>();
  const enough = new AbortController();
  const stop = AbortSignal.any([own.stopping.signal, enough.signal, AbortSignal.timeout(GATHER_MS)]);
  const payload = { configDigest: own.set.configDigest, requestId, digest, boxKey: toHexText(box.publicKey) };

  const take = (node: number, share: Uint8Array): void => {
    const point = checkShare(u, key.threshold.HArray[node]!, share);
    if (point === undefined) {
      const signer = own.set.signers[node]!;
      own.log.error({ signer, requestId }, "secrets: a node gave a wrong share");
      return;
    }
    points.set(node, point);
    if (points.size >= own.needed) enough.abort();
  };
  await Promise.all(
    own.set.signers.map(async (_, node) => {
      if (node === own.self) return take(node, makeShare(u, key.share));
      const answer = await askUntil(own, { node, method: "node_share", payload, stop }, (error) => {
        if (error instanceof TycheError) refusals.set(node, error.message);
        else if (!stop.aborted) refusals.delete(node);
      });
      if (answer === undefined) return undefined;
      refusals.delete(node);
      const { share } = answer as { readonly share?: unknown };
      return take(node, isHex(share) ? openShare(box, share) : new Uint8Array());
    }),
  );
  if (points.size >= own.needed) return points;
  if (refusals.size > own.set.signers.length - own.needed) {
    const reasons = [...refusals].map(([node, why]) => `${own.set.signers[node]!}: ${why}`);
    own.log.warn({ requestId, reasons }, "secrets: the nodes refuse to open what a request names");
    // The observation: in the same words at every node, and in none of a peer's.
    throw new SecretsRefusedError("too many nodes refuse to open them");
  }
  throw new SharesMissingError(points.size, own.needed);
}

function openShare(box: Box, share: Hex): Uint8Array {
  try {
    return box.open(fromHexText(share), SHARE);
  } catch {
    return new Uint8Array();
  }
}

/** Too few nodes gave their share in time. */
class SharesMissingError extends Error {
  constructor(got: number, needed: number) {
    super(`only ${got} of ${needed} nodes gave a share of the request's secrets yet`);
  }
}
