import { isObject } from "../../lib/isObject.ts";
import { getAddress, isAddress, isHash, isHex, type Hex } from "viem";
import { configDigestOf, type NodeConfig } from "../../chainlink/nodeConfig.ts";
import { TycheError, messageOf } from "../../lib/errors.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { isConflict } from "../protocol/conflict.ts";
import type { Evidence, Message } from "../protocol/message.ts";
import { createWire, MAX_MESSAGE_BYTES } from "../protocol/wire.ts";
import type { NodeSet } from "./nodeSet.ts";

/**
 * Two messages of one node that no honest node would both sign. The configuration digest in them is a hash of the configuration recorded
 * here, so that it takes no chain to tell whose keys signed them. JSON-safe.
 */
export interface EvidenceRecord {
  readonly version: 1;
  readonly chainId: number;
  readonly coordinator: Hex;
  readonly configuration: {
    readonly count: string;
    readonly signers: readonly Hex[];
    readonly transmitters: readonly Hex[];
    readonly faulty: number;
    readonly onchainConfig: Hex;
    readonly offchainConfigVersion: string;
    readonly offchainConfig: Hex;
  };
  readonly requestId: Hex;
  /** Key of the node that contradicted itself. */
  readonly signer: Hex;
  /** Encoded as in `PROTOCOL.md`. */
  readonly first: Hex;
  readonly second: Hex;
}

/** What a piece of evidence proves. */
export interface CheckedEvidence {
  readonly signer: Hex;
  readonly requestId: Hex;
  readonly coordinator: Hex;
  readonly configDigest: Hex;
  /** What the node signed two versions of. */
  readonly what: string;
}

/** Records evidence in a form that anyone can check. */
export function describeEvidence(
  { first, second }: Pick<Evidence, "first" | "second">,
  place: {
    readonly chainId: number;
    readonly coordinator: Hex;
    readonly set: NodeSet;
    readonly requestId: Hex;
  },
): EvidenceRecord {
  const { chainId, coordinator, set, requestId } = place;
  const { signers, transmitters, faulty, onchainConfig, offchainConfigVersion, offchainConfig } = set.config;
  return {
    version: 1,
    chainId,
    coordinator,
    configuration: {
      count: String(set.count),
      signers,
      transmitters,
      faulty,
      onchainConfig,
      offchainConfigVersion: String(offchainConfigVersion),
      offchainConfig,
    },
    requestId,
    signer: signers[first.message.sender]!,
    first: toHexText(first.bytes),
    second: toHexText(second.bytes),
  };
}

/**
 * Checks evidence offline: it proves that the key signed both messages. Whether the coordinator ever had this configuration is on chain.
 *
 * @throws {EvidenceError} when it proves nothing.
 */
export function checkEvidence(given: unknown): CheckedEvidence {
  const { chainId, coordinator, count, config, ...record } = parseRecord(given);
  try {
    const configDigest = configDigestOf(config, { chainId, coordinator, count });
    const wire = createWire({ chainId, coordinator, configDigest, signers: config.signers });
    const [first, second] = [record.first, record.second].map((hex) => wire.open(fromHexText(hex)));
    const { requestId, sealed } = first!;
    const { message } = sealed;
    if (requestId !== second!.requestId || requestId !== record.requestId)
      throw new EvidenceError("its messages are not of the request that it names");
    if (config.signers[message.sender]?.toLowerCase() !== record.signer.toLowerCase())
      throw new EvidenceError(`its messages are not signed by ${record.signer}`);
    const commitmentOf = wire.commitmentOf.bind(wire, requestId);
    if (!isConflict(message, second!.sealed.message, commitmentOf))
      throw new EvidenceError("an honest node may sign both of its messages");
    return {
      signer: config.signers[message.sender]!,
      requestId,
      coordinator,
      configDigest,
      what: nameOf(message),
    };
  } catch (error) {
    if (error instanceof EvidenceError) throw error;
    throw new EvidenceError(messageOf(error));
  }
}

function nameOf(message: Message): string {
  if (message.kind === "proposal") return `proposals for stage ${message.rank}`;
  return message.kind === "endorsement" ? `reports of stage ${message.rank}` : "observations";
}

type Members = Readonly<Record<string, unknown>>;

function parseRecord(given: unknown) {
  const record = membersOf(given);
  const configuration = membersOf(record["configuration"]);
  const require = (isWhole: boolean, name: string): void => {
    if (!isWhole) throw new EvidenceError(`it has no usable ${name}`);
  };
  const hexOf = (from: Members, name: string): Hex => {
    require(isHex(from[name]) && from[name].length <= 2 + 2 * MAX_MESSAGE_BYTES, name);
    return from[name] as Hex;
  };
  const addressesOf = (name: string): readonly Hex[] => {
    const list = configuration[name];
    require(Array.isArray(list) && list.length <= 31 && list.every((one) => isAddress(String(one))), name);
    return list as readonly Hex[];
  };
  const numberOf = (name: string): bigint => {
    require(/^\d{1,20}$/.test(String(configuration[name])), name);
    return BigInt(configuration[name] as string);
  };
  const { version, chainId, coordinator, requestId, signer } = record;
  require(version === 1, "version");
  require(Number.isSafeInteger(chainId) && Number(chainId) > 0, "chainId");
  require(isAddress(String(coordinator)), "coordinator");
  require(isHash(String(requestId)), "requestId");
  require(isAddress(String(signer)), "signer");
  const config: NodeConfig = {
    signers: addressesOf("signers"),
    transmitters: addressesOf("transmitters"),
    faulty: Number(numberOf("faulty")),
    onchainConfig: hexOf(configuration, "onchainConfig"),
    offchainConfigVersion: numberOf("offchainConfigVersion"),
    offchainConfig: hexOf(configuration, "offchainConfig"),
  };
  return {
    chainId: chainId as number,
    coordinator: getAddress(coordinator as Hex),
    count: numberOf("count"),
    config,
    requestId: requestId as Hex,
    signer: signer as Hex,
    first: hexOf(record, "first"),
    second: hexOf(record, "second"),
  };
}

function membersOf(value: unknown): Members {
  if (isObject(value)) return value;
  throw new EvidenceError("it is no JSON object, or lacks its configuration");
}

/** The evidence proves nothing. */
export class EvidenceError extends TycheError {
  constructor(why: string) {
    super(`the evidence proves nothing: ${why}`, { code: "invalid_parameter", blame: "caller" });
  }
}
