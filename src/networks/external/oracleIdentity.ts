import { encodeAbiParameters, keccak256, type Hex, isAddress, isHash, isHex, size } from "viem";
import { membersOf, NetworkFileError, readJsonFile, type JsonObject } from "./jsonFile.ts";

/** The public identity of one VRF operator. */
export interface VrfIdentity {
  /** Proving key: affine x and y, 32 bytes each. */
  readonly publicKey: readonly [Hex, Hex];
  readonly keyHash: Hex;
  /** Account that sends the proofs and earns the fees of the words. */
  readonly feeReceiver: Hex;
}

/** The public identity of an oracle on one chain. */
export interface OracleIdentity {
  readonly chainId: number;
  /** Serves the requests that name no key hash. */
  readonly vrf: VrfIdentity;
  /** Further VRF operators, with keys of their own; absent when there is only one. */
  readonly furtherVrf?: readonly VrfIdentity[];
  readonly functions: {
    /** Keys that sign reports. */
    readonly signers: readonly Hex[];
    /** Accounts that send reports and earn their fees. */
    readonly transmitters: readonly Hex[];
    /** The URLs of nodes of different operators; absent for an oracle that has all keys itself. */
    readonly offchainConfig?: Hex;
    /** What callers' secrets are encrypted to; absent for nodes of different operators, and where an older version printed it. */
    readonly secretKeys?: PublicSecretKeys;
  };
}

/** The public keys for secrets, as the coordinator has them. */
export interface PublicSecretKeys {
  /** 64 bytes, x ‖ y on secp256k1. */
  readonly donPublicKey: Hex;
  /** JSON in UTF-8. */
  readonly thresholdPublicKey: Hex;
}

/** The output of `tyche oracle keys --json`. */
export interface OracleIdentities {
  readonly version: 1;
  readonly oracles: readonly OracleIdentity[];
}

/**
 * Reads an oracle's identity on one chain from the output of `tyche oracle keys --json`.
 *
 * @throws {NetworkFileError} when the file is damaged, or has no identity for this chain.
 */
export function readOracleIdentity(path: string, chainId: number): OracleIdentity {
  const object = readJsonFile(path, "run `tyche oracle keys --json` where the oracle will run");
  const oracles = membersOf(path, object).list("oracles") as readonly JsonObject[];
  const found = oracles.find((one) => one?.["chainId"] === chainId);
  if (found === undefined)
    throw new NetworkFileError(
      path,
      `has no oracle of chain ${chainId}; run \`tyche oracle keys --chain-id ${chainId} --json\` where the oracle will run`,
    );
  return parseIdentity(path, found);
}

/** Parses an identity from a file's content. Throws {@link NetworkFileError}. */
export function parseIdentity(path: string, object: JsonObject): OracleIdentity {
  const members = membersOf(path, object);
  const vrf = parseVrf(path, "vrf", members.object("vrf"));
  const further = object["furtherVrf"] === undefined ? [] : members.list("furtherVrf");
  const furtherVrf = (further as readonly JsonObject[]).map((one, i) =>
    parseVrf(path, `furtherVrf[${i}]`, one),
  );
  const keyHashes = [vrf, ...furtherVrf].map(({ keyHash }) => keyHash);
  if (new Set(keyHashes).size < keyHashes.length)
    throw new NetworkFileError(path, "names a VRF key hash more than once");
  const functions = membersOf(path, members.object("functions"));
  const signers = parseAddresses(path, "functions.signers", functions.list("signers"));
  const transmitters = parseAddresses(path, "functions.transmitters", functions.list("transmitters"));
  if (signers.length !== transmitters.length)
    throw new NetworkFileError(path, "needs as many functions.transmitters as functions.signers");
  const offchainConfig = members.object("functions")["offchainConfig"];
  if (offchainConfig !== undefined && !isHex(offchainConfig))
    throw new NetworkFileError(path, "functions.offchainConfig must be 0x and hex digits");
  const secretKeys = members.object("functions")["secretKeys"];
  return {
    chainId: members.count("chainId"),
    vrf,
    ...(furtherVrf.length === 0 ? {} : { furtherVrf }),
    functions: {
      signers,
      transmitters,
      ...(offchainConfig === undefined ? {} : { offchainConfig }),
      ...(secretKeys === undefined
        ? {}
        : { secretKeys: parseSecretKeys(path, functions.object("secretKeys")) }),
    },
  };
}

function parseSecretKeys(path: string, { donPublicKey, thresholdPublicKey }: JsonObject): PublicSecretKeys {
  if (isHex(donPublicKey) && size(donPublicKey) === 64 && isHex(thresholdPublicKey))
    return { donPublicKey, thresholdPublicKey };
  throw new NetworkFileError(
    path,
    "functions.secretKeys must have a donPublicKey of 0x and 128 hex digits, and a thresholdPublicKey of 0x and hex digits",
  );
}

function parseVrf(path: string, name: string, object: JsonObject): VrfIdentity {
  const vrf = membersOf(path, object ?? {});
  const publicKey = vrf.list("publicKey");
  const keyHash = vrf.hash("keyHash");
  if (publicKey.length !== 2 || !publicKey.every((part) => isHash(String(part))))
    throw new NetworkFileError(path, `${name}.publicKey must be two times 0x and 64 hex digits`);
  const [x, y] = publicKey as [Hex, Hex];
  if (keyHashOf([x, y]) !== keyHash)
    throw new NetworkFileError(
      path,
      `${name}.keyHash is not that of ${name}.publicKey; the file was changed`,
    );
  return { publicKey: [x, y], keyHash, feeReceiver: vrf.address("feeReceiver") };
}

/** Returns all VRF operators of an oracle, the one with the default key first. */
export function vrfOperatorsOf({
  vrf,
  furtherVrf = [],
}: Pick<OracleIdentity, "vrf" | "furtherVrf">): readonly VrfIdentity[] {
  return [vrf, ...furtherVrf];
}

function parseAddresses(path: string, name: string, list: readonly unknown[]): Hex[] {
  const isWhole = list.every((one) => typeof one === "string" && isAddress(one));
  const isDistinct = new Set(list.map((one) => String(one).toLowerCase())).size === list.length;
  if (isWhole && isDistinct && list.length >= 4) return list as Hex[];
  throw new NetworkFileError(path, `${name} must be at least 4 different addresses`);
}

/** Returns keccak256(abi.encode(publicKey)), as VRFCoordinatorV2 `hashOfKey` does. */
export function keyHashOf([x, y]: readonly [Hex, Hex]): Hex {
  return keccak256(encodeAbiParameters([{ type: "uint256[2]" }], [[BigInt(x), BigInt(y)]]));
}
