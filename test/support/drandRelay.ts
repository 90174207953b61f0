import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { hexToBytes, type Hex } from "viem";
import { drandChainHash, drandMessage, type DrandChain } from "../../src/beacon/drand.ts";
import { toHexText } from "../../src/lib/hex.ts";

/** Rounds of quicknet, as drand published them. */
export const QUICKNET_ROUNDS: ReadonlyMap<bigint, Uint8Array> = new Map([
  [
    1000n,
    hexToBytes(
      "0xb44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
    ),
  ],
  [
    1001n,
    hexToBytes(
      "0xb33bf3667cbd5a82de3a24b4e0e9fe5513cc1a0e840368c6e31f5fcfa79bea03f73896b25883abf2853d10337fb8fa41",
    ),
  ],
]);

const { shortSignatures: bls } = bls12_381;
const SECRET_KEY = new Uint8Array(32).fill(7);

/** A chain of rounds whose key the tests hold. */
export function ownDrandChain(change: Partial<DrandChain> = {}): DrandChain {
  return {
    publicKey: toHexText(bls.getPublicKey(SECRET_KEY).toBytes()),
    genesisTime: 1_692_803_367,
    period: 1,
    groupHash: `0x${"0a".repeat(32)}`,
    beaconId: "test",
    ...change,
  };
}

/** Signs a round of {@link ownDrandChain}. */
export function signOwnRound(round: bigint): Uint8Array {
  return bls.Signature.toBytes(bls.sign(drandMessage(round), SECRET_KEY));
}

export type DrandRelay = Awaited<ReturnType<typeof startDrandRelay>>;

/** Starts a relay of one chain. `signatureOf` may answer anything, also later; `undefined`: it has no such round. */
export async function startDrandRelay(
  chain: DrandChain,
  signatureOf: (round: bigint) => Uint8Array | string | undefined | Promise<Uint8Array | undefined>,
) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const [, round] =
      new RegExp(`^/${drandChainHash(chain).slice(2)}/public/(\\d+)$`).exec(request.url!) ?? [];
    void (async () => {
      const answer = round === undefined ? undefined : await signatureOf(BigInt(round));
      if (answer === undefined) return response.writeHead(404).end();
      const body =
        typeof answer === "string"
          ? answer
          : JSON.stringify({ round: Number(round), signature: toHexText(answer).slice(2) });
      return response.writeHead(200, { "content-type": "application/json" }).end(body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Paths that were asked for. */
    asked,
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns a relay's URL at which nothing listens. */
export const DEAD_RELAY = "http://127.0.0.1:9";

/** Returns a hash as a relay's path has it. */
export function pathOf(chain: DrandChain, round: bigint): string {
  return `/${drandChainHash(chain).slice(2)}/public/${round}`;
}

/** Hex of quicknet's hash. */
export const QUICKNET_HASH: Hex = "0x52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
