import { isAddress, isHash, isHex, size, slice, type Hex } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { encodeNodeUrls, isNodeUrl } from "../../chainlink/offchainConfig.ts";
import { MAX_NODES, MIN_NODES } from "../../chainlink/quorum.ts";
import { findSigner } from "../../chainlink/reportSigners.ts";
import { toHexText } from "../../lib/hex.ts";
import { keccak256 } from "../../lib/keccak.ts";
import { membersOf, NetworkFileError, readJsonFile, type JsonObject } from "./jsonFile.ts";
import { keyHashOf, vrfOperatorsOf, type OracleIdentity, type VrfIdentity } from "./oracleIdentity.ts";

/** What the operator of one node publishes about it. */
interface NodeCard {
  readonly role: "node";
  readonly chainId: number;
  /** URL at which its peers reach it. */
  readonly url: string;
  /** Checksummed. */
  readonly signer: Hex;
  readonly transmitter: Hex;
}

/** What a VRF operator publishes. */
interface VrfCard {
  readonly role: "vrf";
  readonly chainId: number;
  readonly publicKey: readonly [Hex, Hex];
  readonly keyHash: Hex;
  readonly feeReceiver: Hex;
}

/** A public card, signed by both of its keys: signer and transmitter, or proving key and fee receiver. Each signature is r ‖ s ‖ recovery id. */
export type OracleCard = (NodeCard | VrfCard) & { readonly signatures: readonly Hex[] };

/** The output of `tyche oracle keys --role … --json`: a card for each chain. */
export interface OracleCards {
  readonly version: 1;
  readonly cards: readonly OracleCard[];
}

/** Returns the digest that both keys of a card sign, 32 bytes. */
export function cardDigest(card: NodeCard | VrfCard): Uint8Array {
  const fields =
    card.role === "node"
      ? [card.role, card.chainId, card.url, card.signer, card.transmitter]
      : [card.role, card.chainId, ...card.publicKey, card.keyHash, card.feeReceiver];
  return keccak256(new TextEncoder().encode(JSON.stringify(["tyche oracle card", ...fields])));
}

/** Whether a file holds cards; otherwise it holds the identity of an oracle that has all keys itself. */
export function isCardFile(path: string): boolean {
  return Array.isArray(
    readJsonFile(path, "run `tyche oracle keys --json` where the oracle will run")["cards"],
  );
}

/**
 * Combines the cards of several operators into one oracle.
 *
 * @param network the network's oracle, if it already has one: its VRF operators stay, and their cards may be among the given ones.
 * @throws {NetworkFileError} when a card is damaged or not signed by its keys, when keys occur twice, when there are not 4 to 31 nodes, or when
 * there is no VRF operator.
 */
export function readOracleCards(
  paths: readonly string[],
  chainId: number,
  network?: Pick<OracleIdentity, "vrf" | "furtherVrf">,
): OracleIdentity {
  const cards = paths.map((path) => readCard(path, chainId));
  const nodes = cards.filter((card) => card.role === "node");
  const given = cards.filter((one) => one.role === "vrf");
  const all = paths.join(", ");
  if (nodes.length < MIN_NODES || nodes.length > MAX_NODES)
    throw new NetworkFileError(
      all,
      `hold the cards of ${nodes.length} nodes; ${MIN_NODES} to ${MAX_NODES} are needed`,
    );
  const present = network && vrfOperatorsOf(network);
  const [vrf, ...furtherVrf] = present ?? given.map(identityOf);
  if (vrf === undefined) throw new NetworkFileError(all, "hold no VRF card; at least one is needed");
  const stranger = present && given.find((card) => !present.some(({ keyHash }) => keyHash === card.keyHash));
  if (stranger !== undefined)
    throw new NetworkFileError(
      all,
      `hold the VRF card of ${stranger.keyHash}, but the network's VRF keys are ${present!.map(({ keyHash }) => keyHash).join(", ")}; only its nodes can change. For other VRF keys, deploy a network of another name, to another contracts file`,
    );
  const keys = [
    ...nodes.flatMap(({ signer, transmitter }) => [signer, transmitter]),
    ...[vrf, ...furtherVrf].flatMap(({ keyHash, feeReceiver }) => [keyHash, feeReceiver]),
  ];
  const own = [...keys, ...nodes.map(({ url }) => new URL(url).href)];
  const twice = own.find((one, index) => own.indexOf(one) !== index);
  if (twice !== undefined)
    throw new NetworkFileError(
      all,
      `hold ${twice} more than once; each operator needs keys of its own, and each node a URL of its own`,
    );
  return {
    chainId,
    vrf,
    ...(furtherVrf.length === 0 ? {} : { furtherVrf }),
    functions: {
      signers: nodes.map(({ signer }) => signer),
      transmitters: nodes.map(({ transmitter }) => transmitter),
      offchainConfig: encodeNodeUrls(nodes.map(({ url }) => url)),
    },
  };
}

function identityOf({ publicKey, keyHash, feeReceiver }: VrfCard): VrfIdentity {
  return { publicKey, keyHash, feeReceiver };
}

function readCard(path: string, chainId: number): OracleCard {
  const list = membersOf(
    path,
    readJsonFile(path, "it is what `tyche oracle keys --role node --json` prints"),
  ).list("cards");
  const found = (list as readonly JsonObject[]).find((one) => one?.["chainId"] === chainId);
  if (found === undefined)
    throw new NetworkFileError(path, `has no card of chain ${chainId}; print it with --chain-id ${chainId}`);
  const members = membersOf(path, found);
  const card = found["role"] === "vrf" ? readVrfCard(path, members) : readNodeCard(path, members);
  const keys =
    card.role === "node"
      ? [card.signer, card.transmitter]
      : [publicKeyToAddress(`0x04${card.publicKey.map((part) => part.slice(2)).join("")}`), card.feeReceiver];
  const signatures = members.list("signatures") as readonly Hex[];
  const digest = toHexText(cardDigest(card));
  if (!keys.every((key, index) => isSignedBy(key, digest, signatures[index])))
    throw new NetworkFileError(path, "is not signed by its own keys; it was changed after it was printed");
  return { ...card, signatures };
}

function readNodeCard(path: string, members: ReturnType<typeof membersOf>): NodeCard {
  const url = members.text("url");
  if (members.text("role") !== "node") throw new NetworkFileError(path, "role must be node or vrf");
  if (!isNodeUrl(url))
    throw new NetworkFileError(path, "url must be an http: or https: URL without credentials and query");
  const [signer, transmitter] = [members.address("signer"), members.address("transmitter")];
  return { role: "node", chainId: members.count("chainId"), url, signer, transmitter };
}

function readVrfCard(path: string, members: ReturnType<typeof membersOf>): VrfCard {
  const publicKey = members.list("publicKey");
  const keyHash = members.hash("keyHash");
  const [x, y] = publicKey.map((part) => (isHash(String(part)) ? (String(part) as Hex) : undefined));
  if (publicKey.length !== 2 || x === undefined || y === undefined || keyHashOf([x, y]) !== keyHash)
    throw new NetworkFileError(
      path,
      "publicKey must be two times 0x and 64 hex digits, and keyHash its hash",
    );
  const feeReceiver = members.address("feeReceiver");
  return { role: "vrf", chainId: members.count("chainId"), publicKey: [x, y], keyHash, feeReceiver };
}

function isSignedBy(key: Hex, digest: Hex, signature: unknown): boolean {
  if (!isHex(signature) || size(signature) !== 65 || !isAddress(key)) return false;
  const recoveryId = Number(slice(signature, 64, 65));
  return findSigner(digest, { r: slice(signature, 0, 32), s: slice(signature, 32, 64), recoveryId }) === key;
}
