import type { Hex } from "viem";
import type { OracleRequest } from "../functions/oracleRequest.ts";
import type { Answerer } from "../answerer.ts";
import { peekAddressee } from "../protocol/wire.ts";
import type { BodyOutcome } from "./inbox.ts";
import { describeEvidence, type EvidenceRecord } from "./evidence.ts";
import { createMembership, type Membership, type TaskHooks } from "./membership.ts";
import { createNodeFunctions, type NodeFunctionsOptions } from "./nodeFunctions.ts";
import { createNodePresets, type NodePresetsOptions } from "./nodePresets.ts";
import { decodeNodeSet, type NodeSet } from "./nodeSet.ts";
import { createPeerViews, type PeerView } from "./peerViews.ts";
import type { RoundJournal } from "./roundJournal.ts";
import { followNodeSet } from "./setFollower.ts";
import { createStageClock } from "./stageClock.ts";

/** The node's keys, `signer`, may be missing in the set: then the node waits for a set that has them. */
export interface OracleNodeOptions extends Omit<
  NodeFunctionsOptions,
  "member" | "views" | "onAccuse" | "onConfigSet"
> {
  readonly chainId: number;
  /** Contracts of presets, lower case; absent if this node knows of none, and leaves presets to the others. */
  readonly presets?:
    | Pick<NodePresetsOptions, "presetConsumer" | "vrfCoordinator" | "batchVrfCoordinator" | "pipelining">
    | undefined;
  /** The coordinator's current configuration; later ones are followed. */
  readonly set: NodeSet;
  /** Reads the current configuration again. */
  readonly readSet: () => Promise<NodeSet>;
  readonly journalOf: (configDigest: Hex) => RoundJournal;
  /** Stores evidence for anyone who asks. */
  readonly keepEvidence: (record: EvidenceRecord) => Promise<void>;
  /** Is told of each configuration, whether this node belongs to it or not. */
  readonly onNodeSet?: ((set: NodeSet) => void) | undefined;
}

/** How a body of messages was handled; `elsewhere`: it is for a configuration that this node doesn't have, or has left. */
export type MessageOutcome = BodyOutcome | "elsewhere";

/** One node of an oracle network whose nodes don't trust each other. */
export interface OracleNode extends Answerer {
  /**
   * Accepts a body of messages from anyone.
   *
   * @param address network address of the sender, or the group of addresses that the limits treat as one.
   */
  take(this: void, body: Uint8Array, address: string): MessageOutcome;
  /** Returns what this node knows of all nodes, including itself; `undefined` while it is not one of them. */
  peers(): readonly PeerView[] | undefined;
  /** Returns a request that this node sees as open on chain. */
  findRequest(requestId: Hex): OracleRequest | undefined;
}

/**
 * Creates a node with one key: it runs each request's source on its own and agrees with the other nodes by the protocol of
 * `protocol/PROTOCOL.md`. Everything but its journal follows from the chain. When the coordinator gets another configuration, open
 * requests are agreed upon again under that one; the coordinator takes whichever answer comes first.
 */
export function createOracleNode(options: OracleNodeOptions): OracleNode {
  const { chainId, coordinator, signer, log, signal } = options;
  const views = createPeerViews();
  const clock = createStageClock();
  let member: Membership | undefined;
  const functions = createNodeFunctions({
    ...options,
    member: () => member,
    views,
    onAccuse,
    onConfigSet: (eventLog) => sets.onLog(decodeNodeSet(eventLog)),
  });
  const presets =
    options.presets &&
    createNodePresets({ ...options, ...options.presets, member: () => member, views, onAccuse });
  member = join(options.set);
  const sets = followNodeSet({
    first: options.set,
    read: options.readSet,
    log,
    signal,
    onChange(set) {
      leave();
      member = join(set);
      const fields = { configDigest: set.configDigest, nodes: set.signers.length, isMember: !!member };
      log.info(fields, "functions: the coordinator has a new configuration; open requests start over");
      // The rest of the block may hold answers.
      queueMicrotask(() => functions.review());
    },
  });
  signal.addEventListener("abort", () => member?.close(), { once: true });

  function join(set: NodeSet): Membership | undefined {
    const isMember = set.signers.includes(signer.address) && set.urls.length > 0;
    options.onNodeSet?.(set);
    if (!isMember || signal.aborted) return undefined;
    return createMembership({
      chainId,
      coordinator,
      set,
      signer,
      journal: options.journalOf(set.configDigest),
      clock,
      isAnswered: (id) => functions.isAnswered(id) || presets?.isAnswered(id) === true,
      proofs: presets ?? { wants: () => false, take: () => "known" },
      onMessage(id, { message }) {
        const peer = set.signers[message.sender]!;
        const part = functions.find(id) === undefined ? presets : functions;
        part?.onMessage(id, peer, message);
      },
    });
  }

  function leave(): void {
    member?.close();
    member = undefined;
    functions.leave();
    presets?.leave();
  }

  function onAccuse(
    of: Membership,
    requestId: Hex,
    { evidence }: Parameters<TaskHooks["onAccuse"]>[0],
  ): void {
    const record = describeEvidence(evidence.message, { chainId, coordinator, set: of.set, requestId });
    views.accuse(record.signer);
    log.error(
      { requestId, signer: record.signer },
      "a node contradicted itself; GET /evidence has what it signed",
    );
    options.keepEvidence(record).catch((error: unknown) => {
      if (!signal.aborted) log.error({ err: error, record }, "evidence could not be kept");
    });
  }

  return {
    take(body, address) {
      if (member === undefined) return "elsewhere";
      const configDigest = peekAddressee(body)?.configDigest;
      if (configDigest !== undefined && configDigest !== member.set.configDigest) return "elsewhere";
      return member.inbox.take(body, address);
    },
    peers: () => member && views.list(member),
    findRequest: (requestId) => functions.find(requestId),
    addresses: [...functions.addresses, ...(presets?.addresses ?? [])],
    onBlock(block, isLive) {
      functions.onBlock(block, isLive);
      presets?.onBlock(block, isLive);
      // What the block answers has ended by now.
      clock.onBlock(block.number);
    },
    onReorg(firstReplaced) {
      sets.onReorg(firstReplaced);
      clock.onReorg(firstReplaced);
      const wanted = [functions.onReorg(firstReplaced), presets?.onReorg(firstReplaced)];
      return wanted.filter((one) => one !== undefined).toSorted((a, b) => (a < b ? -1 : 1))[0];
    },
    pending() {
      const pending = [...functions.pending(), ...(presets?.pending() ?? [])];
      // Others have to answer them; a restart still begins with them, in case this node joins those others.
      return member === undefined ? pending.map((one) => ({ ...one, unanswerable: true })) : pending;
    },
  };
}
