import { existsSync, readFileSync } from "node:fs";
import type { Hex } from "viem";
import { isNodeUrl } from "../../chainlink/offchainConfig.ts";
import { createAccount, type Account } from "../../evm/account.ts";
import { toHexText } from "../../lib/hex.ts";
import { deriveKey } from "../../lib/seal.ts";
import { type OracleCard, cardDigest } from "../../networks/external/oracleCards.ts";
import { joinSignature } from "../../oracle/protocol/wire.ts";
import { createReportSigner, type ReportSigner } from "../../oracle/signer.ts";
import type { DataDirectory } from "../../store/dataDirectory.ts";
import { createProvingKey } from "../../vrf/proof.ts";
import type { VrfNodeKeys } from "../network/networkKeys.ts";
import { StartError } from "../startError.ts";

/**
 * What an oracle's process does when several operators run one oracle: it is one of the nodes, with the URL for its peers, or the
 * VRF.
 */
export type OracleRole = { readonly role: "node"; readonly url: string } | { readonly role: "vrf" };

const ROLE_FILE = "oracle-role.json";

/** Returns the role of a data directory; `undefined` for an oracle that holds all keys. */
export function findOracleRole(directory: Pick<DataDirectory, "file">): OracleRole | undefined {
  const file = directory.file(ROLE_FILE);
  if (!existsSync(file)) return undefined;
  try {
    const { role, url } = JSON.parse(readFileSync(file, "utf8")) as { role?: unknown; url?: unknown };
    if (role === "vrf") return { role };
    if (role === "node" && isNodeUrl(url)) return { role, url: url as string };
  } catch {
    // Reported below, like any other content that is not a role.
  }
  throw new StartError(`${file} holds no role of an oracle; run \`tyche oracle keys --role\` again`);
}

/**
 * Assigns a role to a data directory.
 *
 * @throws {StartError} when it already has another one, or peers can't reach the URL.
 */
export function saveOracleRole(
  directory: Pick<DataDirectory, "file" | "writeSecret" | "path">,
  role: OracleRole,
): void {
  if (role.role === "node" && !isNodeUrl(role.url))
    throw new StartError(
      `--url must be an http: or https: URL of at most 256 characters without credentials or query; got ${JSON.stringify(role.url)}`,
    );
  const before = findOracleRole(directory);
  if (before !== undefined && before.role !== role.role)
    throw new StartError(
      `${directory.path} belongs to an oracle with the role ${before.role}; each role needs its own data directory`,
    );
  directory.writeSecret(ROLE_FILE, `${JSON.stringify(role)}\n`);
}

/** A node's keys on one chain. */
export interface NodeKeys {
  readonly signer: ReportSigner;
  readonly transmitter: Account;
  /** Returns the salt of a request's observation under a configuration, 32 bytes; it is the same after a restart. */
  readonly saltOf: (configDigest: Hex, requestId: Hex) => Hex;
  /** 32 bytes, from which its part in the keys for secrets follows. */
  readonly secretsSeed: Uint8Array;
  readonly card: (chainId: number, url: string) => OracleCard;
}

/** Derives a node's keys for one chain; no other chain and no other role shares any of them. */
export function deriveNodeKeys(masterKey: Uint8Array, chainId: number): NodeKeys {
  const key = (purpose: string): Uint8Array =>
    deriveKey(masterKey, `oracle node of chain ${chainId}/${purpose}`);
  const signer = createReportSigner(key("signer"));
  const transmitterKey = key("transmitter");
  const transmitter = createAccount(transmitterKey);
  const salts = key("salts");
  return {
    signer,
    transmitter,
    secretsSeed: key("secrets"),
    saltOf: (configDigest, requestId) => toHexText(deriveKey(salts, `${configDigest}/${requestId}`)),
    card(ofChain, url) {
      const card = {
        role: "node" as const,
        chainId: ofChain,
        url,
        signer: signer.address,
        transmitter: transmitter.address,
      };
      return { ...card, signatures: signCard(card, [signer, createReportSigner(transmitterKey)]) };
    },
  };
}

/** A VRF operator's keys on one chain. */
export interface VrfKeys extends VrfNodeKeys {
  readonly card: (chainId: number) => OracleCard;
}

/** Derives a VRF operator's keys for one chain. */
export function deriveVrfKeys(masterKey: Uint8Array, chainId: number): VrfKeys {
  const key = (purpose: string): Uint8Array =>
    deriveKey(masterKey, `oracle vrf of chain ${chainId}/${purpose}`);
  const provingKey = createProvingKey(key("vrf"));
  const accountKey = key("sender");
  const vrfAccount = createAccount(accountKey);
  const { x, y } = provingKey.publicKey;
  const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
  return {
    provingKey,
    vrfAccount,
    card(ofChain) {
      const card = {
        role: "vrf" as const,
        chainId: ofChain,
        publicKey: [word(x), word(y)] as const,
        keyHash: provingKey.keyHash,
        feeReceiver: vrfAccount.address,
      };
      const signers = [createReportSigner(provingKey.secretKey), createReportSigner(accountKey)];
      return { ...card, signatures: signCard(card, signers) };
    },
  };
}

function signCard(card: Parameters<typeof cardDigest>[0], signers: readonly ReportSigner[]): readonly Hex[] {
  const digest = cardDigest(card);
  return signers.map((signer) => toHexText(joinSignature(signer.sign(digest))));
}
