import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { messageOf } from "../../lib/errors.ts";
import type { Dealer, Dealing, Handover, SharedKey } from "../../secrets/keyGeneration.ts";
import type { ThresholdPublicKey } from "../../secrets/tdh2.ts";
import { configDigestOf } from "../../chainlink/nodeConfig.ts";
import type { FormerKey } from "../../chainlink/offchainConfig.ts";
import type { OracleLog } from "../log.ts";
import type { NodeSet } from "../node/nodeSet.ts";
import type { NodeMethod } from "./gatewayMessage.ts";
import type { Box } from "./sealedBox.ts";
import type { Vault } from "./vault.ts";

/** Time for a peer's answer, and for answers of enough: a peer may see a request some blocks later. */
export const ANSWER_MS = 10_000;
export const GATHER_MS = 20_000;
/** First pause before a peer is asked again that has not seen a request yet, by which each one grows, and the longest. */
const RETRY_MS = 100;
const LONGEST_RETRY_MS = 2_000;

/** Sends a message to a node of a set, by its index, and returns the payload of its signed answer; rejects as `GatewayClient.ask`. */
export type AskNode = (
  node: number,
  method: NodeMethod,
  payload: object,
  signal: AbortSignal,
) => Promise<object>;

export interface SharedKeysOptions {
  /** 32 bytes of this node's own, for this chain. */
  readonly seed: Uint8Array;
  readonly chainId: number;
  /** FunctionsCoordinator. */
  readonly coordinator: Hex;
  /** This node's signer, checksummed. */
  readonly address: Hex;
  /** Connects to the nodes of a set. */
  readonly connect: (set: NodeSet) => AskNode;
  /** Reads from the chain who holds a key that is to be handed on. */
  readonly readFormer: (former: FormerKey) => Promise<NodeSet>;
  /** The configuration to whose nodes this node's operator lets it hand its share on: the coordinator's owner alone could name its own nodes. */
  readonly handKeyOnTo: Hex | undefined;
  /** Stores what a node must not forget of a configuration. */
  readonly records: {
    read(configDigest: Hex): Promise<string | undefined>;
    /** Resolves once the record is on disk. */
    save(configDigest: Hex, record: string): Promise<void>;
  };
  /** Throws {@link GatewayError} for a request that this node doesn't see as open on chain. */
  readonly assertSeen: (requestId: Hex) => void;
  /** Finds the ciphertext that a request names; throws as `Vault.findNamed`, and as `assertSeen`. */
  readonly findNamed: (requestId: Hex, digest: Hex) => ReturnType<Vault["findNamed"]>;
  /** Returns what this node holds of an uploader's slots, in exactly these versions. */
  readonly findHeld: Vault["findHeld"];
  readonly listNames: Vault["listNames"];
  /** Stores what other nodes hold; as {@link Vault.keepRecalled}. */
  readonly keepRecalled: Vault["keepRecalled"];
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** What a node has of its own, whichever configuration it takes part in. */
export interface KeyContext extends SharedKeysOptions {
  readonly box: Box;
  /** Connects to the nodes of a set; this node answers itself. */
  readonly askOf: (set: NodeSet) => AskNode;
}

/** What a node was given by a dealer, sealed to its box. */
export interface Given {
  readonly dealing: Dealing;
  readonly part: Hex;
}

/** What is stored of a configuration: what was dealt, in the order of the dealers, and whether all nodes have recorded the same. */
export interface KeyRecord {
  readonly given: readonly Given[];
  readonly isAgreed: boolean;
  /** Absent for a key that all nodes have generated. */
  readonly handover?: Handover;
  /** Whether the dealers have yet to be chosen: these have dealt so far. */
  readonly isOpen?: true;
  /** Whether this node has yet to take over what the former nodes hold in slots. */
  readonly lacksSlots?: boolean;
}

/** Nodes that are asked. */
export interface Nodes {
  readonly set: NodeSet;
  readonly ask: AskNode;
}

/** A node's part in one configuration. */
export interface Seat extends Nodes {
  /** -1 for a node that only hands its share on. */
  readonly self: number;
  /** Shares that open a ciphertext. */
  readonly needed: number;
  readonly stopping: AbortController;
  readonly log: OracleLog;
  /** Who deals: its own nodes, or those that hand their key on once they are known. */
  dealers: Nodes | undefined;
  /** What this node holds of a key that is handed on, and what its holders say that is. */
  held: (Pick<KeyRecord, "isAgreed"> & { readonly key: SharedKey }) | undefined;
  formerKey: ThresholdPublicKey | undefined;
  dealer: Dealer | undefined;
  /** By dealer: what it dealt to this node. */
  readonly given: Map<number, Given>;
  /** By method and URL: why what is needed of a node is not there yet. */
  readonly missing: Map<string, string>;
  /** By node: whether it has recorded the same key, and whether it knows that all have. */
  readonly same: boolean[];
  readonly knows: boolean[];
  record: KeyRecord | undefined;
  key: SharedKey | undefined;
  isAgreed: boolean;
}

/** Gives a node its part in a configuration, of which it knows nothing yet. */
export function openSeat({ address, log, askOf }: KeyContext, set: NodeSet): Seat {
  const self = set.urls.length > 0 ? set.signers.indexOf(address) : -1;
  const ask = askOf(set);
  return {
    set,
    ask,
    self,
    needed: 2 * set.faulty + 1,
    stopping: new AbortController(),
    log,
    dealers: set.formerKey === undefined ? { set, ask } : undefined,
    held: undefined,
    formerKey: undefined,
    dealer: undefined,
    given: new Map(),
    missing: new Map(),
    same: set.signers.map((_, node) => node === self),
    knows: set.signers.map(() => false),
    record: undefined,
    key: undefined,
    isAgreed: false,
  };
}

/** A question that is repeated until it is answered. */
interface AskUntil {
  readonly node: number;
  readonly method: NodeMethod;
  readonly payload: object;
  readonly stop: AbortSignal;
}

/** Asks a node again and again until it answers; resolves with `undefined` once stopped. */
export async function askUntil(
  { ask }: Pick<Nodes, "ask">,
  { node, method, payload, stop }: AskUntil,
  onError: (error: unknown) => void = () => {},
): Promise<object | undefined> {
  for (let attempt = 1; !stop.aborted; attempt += 1) {
    try {
      return await ask(node, method, payload, stop);
    } catch (error) {
      onError(error);
    }
    const pause = Math.min(attempt * RETRY_MS, LONGEST_RETRY_MS);
    await sleep(pause, undefined, { signal: stop }).catch(() => {});
  }
  return undefined;
}

/** Asks nodes the same at once; `read` returns what is wrong with what a node answers. */
export async function askAll(
  own: Seat,
  { set, ask }: Nodes,
  isAsked: (node: number) => boolean,
  read: (answer: object, node: number) => Promise<string | undefined>,
  { method, payload }: Pick<AskUntil, "method" | "payload">,
): Promise<void> {
  const { signal: stop } = own.stopping;
  await Promise.all(
    set.signers.map(async (signer, node) => {
      if (!isAsked(node)) return;
      const url = set.urls[node]!;
      const trouble = await ask(
        node,
        method,
        payload,
        AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
      )
        .then((answer) => read(answer, node))
        .catch((error: unknown) => `it ${messageOf(error)}`);
      const name = `${method} ${url}`;
      const before = own.missing.get(name);
      if (trouble === undefined) own.missing.delete(name);
      else own.missing.set(name, trouble);
      if (trouble !== undefined && trouble !== before && !stop.aborted)
        own.log.warn({ signer, trouble }, "secrets: a node keeps the key from being generated");
    }),
  );
}

/** Connects to the nodes that hand a key on. */
export async function connectFormer(context: KeyContext, formerKey: FormerKey): Promise<Nodes> {
  const set = await context.readFormer(formerKey);
  if (set.configDigest !== formerKey.configDigest || !isHashed(context, set))
    throw new Error(`the RPC nodes show other nodes than those of configuration ${formerKey.configDigest}`);
  return { set, ask: context.askOf(set) };
}

/** Whether a configuration's digest is the hash of what is said of it. */
export function isHashed(
  { chainId, coordinator }: KeyContext,
  { config, configDigest, count }: NodeSet,
): boolean {
  return configDigestOf(config, { chainId, coordinator, count }) === configDigest;
}
