import type { Hex } from "viem";
import { decodeLog, logsOf } from "../../chainlink/events.ts";
import { findRevertReason } from "../../chainlink/findRevertReason.ts";
import type { ChainClient, RawLog } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import type { BeaconRounds } from "../../lib/beaconRounds.ts";
import { fromHexText } from "../../lib/hex.ts";
import { shareByKey } from "../../lib/memo.ts";
import type { Answerer } from "../answerer.ts";
import type { Observation } from "../aggregateObservations.ts";
import { tellAnswers } from "../answerSpans.ts";
import { LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import { observe, RUNNING_FUNCTIONS, type OpenSecrets, type SourceRunner } from "../functions/execute.ts";
import type { OracleLog } from "../log.ts";
import { readFunctionsOutcomes, toOracleRequest, type OracleRequest } from "../functions/oracleRequest.ts";
import { agree } from "../protocol/agree.ts";
import { peekAddressee } from "../protocol/wire.ts";
import { gasOfReport } from "../functions/reportGas.ts";
import { createRequestSet, type Entry } from "../requestSet.ts";
import { createRequestWork, type RequestWork, type Run } from "../requestWork.ts";
import type { ReportSigner } from "../signer.ts";
import { ORACLE_TOPICS } from "../topics.ts";
import type { BodyOutcome } from "./inbox.ts";
import { describeEvidence, type EvidenceRecord } from "./evidence.ts";
import { createMembership, type Membership, type TaskHooks } from "./membership.ts";
import { createNodePresets, NOT_A_MEMBER, type NodePresetsOptions } from "./nodePresets.ts";
import { createNodeReport } from "./nodeReport.ts";
import { decodeNodeSet, type NodeSet } from "./nodeSet.ts";
import { answerKey, createPeerViews, type PeerView } from "./peerViews.ts";
import type { RoundJournal } from "./roundJournal.ts";
import type { RoundTask } from "./roundTask.ts";
import { followNodeSet } from "./setFollower.ts";
import { createStageClock } from "./stageClock.ts";

export interface OracleNodeOptions {
  readonly client: Pick<ChainClient, "call" | "getHead" | "request">;
  readonly chainId: number;
  /** FunctionsCoordinator and FunctionsRouter, lower case. */
  readonly coordinator: Hex;
  readonly router: Hex;
  /** Contracts of presets, lower case; absent if this node knows of none, and leaves presets to the others. */
  readonly presets?:
    | Pick<NodePresetsOptions, "presetConsumer" | "vrfCoordinator" | "batchVrfCoordinator" | "pipelining">
    | undefined;
  /** The coordinator's current configuration; later ones are followed. */
  readonly set: NodeSet;
  /** Reads the current configuration again. */
  readonly readSet: () => Promise<NodeSet>;
  /** This node's keys. If the set lacks them, the node waits for a set that has them. */
  readonly signer: ReportSigner;
  readonly transmitter: Sender;
  /** Returns the 32-byte salt of a request's observation under a configuration: deterministic, and known to nobody else. */
  readonly saltOf: (configDigest: Hex, requestId: Hex) => Hex;
  readonly journalOf: (configDigest: Hex) => RoundJournal;
  /** Stores evidence for anyone who asks. */
  readonly keepEvidence: (record: EvidenceRecord) => Promise<void>;
  /** Opens the secrets of requests; absent if this node holds none. */
  readonly openSecrets?: OpenSecrets | undefined;
  /** Is told of each configuration, whether this node belongs to it or not. */
  readonly onNodeSet?: ((set: NodeSet) => void) | undefined;
  readonly runner: SourceRunner;
  readonly rounds: BeaconRounds;
  readonly maxResponseBytes: number;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
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
  const { client, chainId, coordinator, router, signer, log, signal } = options;
  const requestSet = createRequestSet<OracleRequest>({ onDue: () => review(), signal });
  const views = createPeerViews();
  const clock = createStageClock();
  /** Observations made or in progress in this process: a source runs once, even if the configuration changes. */
  const observations = new WeakMap<OracleRequest, Promise<Observation>>();
  const work: RequestWork = createRequestWork({
    ...options,
    kind: "functions",
    requests: requestSet,
    places: RUNNING_FUNCTIONS,
    // Ends the rounds of requests that are answered or gone.
    onReview: () => member?.sweep(),
    next: (entry) => member && nextOf(member, entry),
  });
  const { rounds, review } = work;
  let member: Membership | undefined;
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
      queueMicrotask(() => review());
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
      isAnswered: (id) => requestSet.isAnswered(id) || presets?.isAnswered(id) === true,
      proofs: presets ?? { wants: () => false, take: () => "known" },
      onMessage(id, { message }) {
        const peer = set.signers[message.sender]!;
        if (requestSet.find(id) === undefined) presets?.onMessage(id, peer, message);
        else if (message.kind === "reveal") views.observed(id, peer, answerKey(message.observation));
      },
    });
  }

  function leave(): void {
    member?.close();
    member = undefined;
    requestSet.restart(NOT_A_MEMBER);
    presets?.leave();
  }

  function nextOf(of: Membership, entry: Entry<OracleRequest>): Run | string | undefined {
    const { request } = entry;
    const { requestId } = request;
    const unknown = rounds.findUnknown(request);
    if (unknown !== undefined) return unknown;
    const task = of.tasks.get(requestId) ?? begin(of, entry);
    if (entry.state === "working" || requestSet.isPaused(entry)) return undefined;
    const isCurrent = (): boolean => of.tasks.get(requestId) === task && requestSet.isOpen(entry);
    return {
      why: "running the source",
      isCurrent,
      async run() {
        await task.ready;
        if (!task.hasObserved) {
          const observation = await observeOnce(request);
          if (!isCurrent()) return;
          views.observed(requestId, signer.address, answerKey(observation));
          task.give({ type: "observed", observation, salt: options.saltOf(of.set.configDigest, requestId) });
        }
        if (isCurrent()) entry.why = rounds.describeAgreement(request);
      },
    };
  }

  function begin(of: Membership, entry: Entry<OracleRequest>): RoundTask {
    const { request } = entry;
    const { requestId } = request;
    const { configDigest } = of.set;
    const report = createNodeReport(request, { configDigest, roundSignature: rounds.signatureOf(request) });
    const hooks: TaskHooks = {
      onTransmit({ rank: stage, result, endorsements }) {
        entry.why = `transmitting at stage ${stage}`;
        void transmit(entry, stage, report.encode(stage, result, endorsements));
      },
      onAccuse: (effect) => onAccuse(of, requestId, effect),
      onFailure(error) {
        log.error({ err: error, requestId }, "functions: the journal of a request can't be used; retrying");
        of.end(requestId);
        requestSet.postpone(entry, "the journal can't be used", LONGEST_FREE_PAUSE_MS);
      },
    };
    return of.begin(
      {
        id: requestId,
        isOpen: () => requestSet.isOpen(entry),
        isDerived: false,
        agree: (observed) => agree(observed, of.set.faulty),
        signReport: (rank, result) => report.sign(rank, result, signer),
      },
      hooks,
    );
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

  function observeOnce(request: OracleRequest): Promise<Observation> {
    return shareByKey(observations, request, async () => {
      const [observation] = await observe(request, { ...options, rounds, nodes: 1 });
      return observation!;
    });
  }

  /** Sends a report; if that fails, the next stage is another node's. */
  async function transmit(entry: Entry<OracleRequest>, stage: number, data: Hex): Promise<void> {
    const { request } = entry;
    if (!requestSet.isOpen(entry)) return;
    const fields = { requestId: request.requestId, stage };
    try {
      // The router refuses items whose gas costs more than when they were requested.
      const call = { to: coordinator, data, gas: gasOfReport([entry]), avoidsPeaks: true };
      const startMs = Date.now();
      const receipt = await options.transmitter.send(call, undefined);
      tellAnswers("report", [request.requestId], { startMs, receipt });
      const outcome = readFunctionsOutcomes(logsOf(receipt.logs, [router])).get(request.requestId);
      const told = { ...fields, transactionHash: receipt.transactionHash, result: outcome?.result };
      if (receipt.succeeded) log.info(told, "functions: transmitted");
      else {
        const from = options.transmitter.address;
        const { text } = await findRevertReason(client, { ...call, from }, receipt);
        log.error({ ...told, reason: text }, "functions: the coordinator refused a report");
      }
      if (outcome?.result === "INSUFFICIENT_GAS_PROVIDED") requestSet.raiseGas(entry);
      if (outcome?.result === "INVALID_COMMITMENT") requestSet.drop(request.requestId);
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, ...fields }, "functions: report was not sent");
    }
  }

  function readCoordinator(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name === "OracleRequest") requestSet.add(toOracleRequest(event, eventLog.blockNumber));
    else if (eventLog.topics[0] === ORACLE_TOPICS.CommitmentDeleted) requestSet.drop(eventLog.data);
    else if (eventLog.topics[0] === ORACLE_TOPICS.ConfigSet) sets.onLog(decodeNodeSet(eventLog));
  }

  function readRouter(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name !== "RequestProcessed") return;
    const { requestId, transmitter, response, err } = event;
    const entry = requestSet.find(requestId);
    if (entry === undefined) return;
    requestSet.finish(entry.request, eventLog.blockNumber);
    const { transactionHash } = eventLog;
    log.info({ requestId, transmitter, transactionHash }, "functions: answered");
    views.transmitted(transmitter, transactionHash);
    const answer = err === "0x" ? { ok: true, bytes: response } : { ok: false, bytes: err };
    const key = answerKey({ ok: answer.ok, bytes: fromHexText(answer.bytes) });
    if (views.answered(requestId, [key]).includes(signer.address))
      log.warn({ requestId, transactionHash }, "functions: the answer is not what this node saw");
  }

  return {
    take(body, address) {
      if (member === undefined) return "elsewhere";
      const configDigest = peekAddressee(body)?.configDigest;
      if (configDigest !== undefined && configDigest !== member.set.configDigest) return "elsewhere";
      return member.inbox.take(body, address);
    },
    peers: () => member && views.list(member),
    findRequest: (requestId) => requestSet.find(requestId)?.request,
    addresses: [coordinator, router, ...(presets?.addresses ?? [])],
    onBlock(block, isLive) {
      work.isLive = isLive;
      for (const eventLog of block.logs) {
        if (eventLog.address === coordinator) readCoordinator(eventLog);
        else if (eventLog.address === router) readRouter(eventLog);
      }
      requestSet.onHead(block.number);
      presets?.onBlock(block, isLive);
      review();
      // What the block answers has ended by now.
      clock.onBlock(block.number);
    },
    onReorg(firstReplaced) {
      sets.onReorg(firstReplaced);
      clock.onReorg(firstReplaced);
      const wanted = [requestSet.onReorg(firstReplaced), presets?.onReorg(firstReplaced)];
      return wanted.filter((one) => one !== undefined).toSorted((a, b) => (a < b ? -1 : 1))[0];
    },
    pending() {
      const pending = [...requestSet.pending("functions"), ...(presets?.pending() ?? [])];
      // Others have to answer them; a restart still begins with them, in case this node joins those others.
      return member === undefined ? pending.map((one) => ({ ...one, unanswerable: true })) : pending;
    },
  };
}
