import type { Hex } from "viem";
import { decodeLog } from "../../chainlink/events.ts";
import { findRevertReason } from "../../chainlink/findRevertReason.ts";
import type { ChainClient, RawLog } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import { messageOf } from "../../lib/errors.ts";
import { createAlarm, LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import { observe, type SourceRunner } from "../execute.ts";
import type { FunctionsNetwork } from "../functionsNetwork.ts";
import type { OracleLog } from "../log.ts";
import { readFunctionsOutcomes, toOracleRequest, type OracleRequest } from "../oracleRequest.ts";
import type { IsPreset } from "../presetSources.ts";
import type { RoundEffect } from "../protocol/round.ts";
import { transmitOrder } from "../protocol/transmitOrder.ts";
import { createWire, type Received } from "../protocol/wire.ts";
import { createQuota } from "../quota.ts";
import { gasOfReport } from "../reportGas.ts";
import { createRequestSet, type Entry } from "../requestSet.ts";
import type { ReportSigner } from "../signer.ts";
import { ORACLE_TOPICS } from "../topics.ts";
import { createEarlyMessages } from "./earlyMessages.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { createNodeReport } from "./nodeReport.ts";
import type { NodeSet } from "./nodeSet.ts";
import { createPeer } from "./peerClient.ts";
import type { RoundJournal } from "./roundJournal.ts";
import { createRoundTask, type RoundTask } from "./roundTask.ts";
import { createPeerViews, type PeerView } from "./peerViews.ts";

/** As with an oracle that holds all keys. */
const MAX_EXECUTING = 64;
const MAX_EXECUTING_PER_SUBSCRIPTION = 16;

/** Options of {@link createOracleNode}. */
export interface OracleNodeOptions {
  readonly client: Pick<ChainClient, "call" | "request">;
  readonly chainId: number;
  /** FunctionsCoordinator and FunctionsRouter, lower case. */
  readonly coordinator: Hex;
  readonly router: Hex;
  readonly set: NodeSet;
  /** This node's keys; the set must have them. */
  readonly signer: ReportSigner;
  readonly transmitter: Sender;
  /** Returns the salt of a request's observation, 32 bytes: always the same, and known to nobody else. */
  readonly saltOf: (requestId: Hex) => Hex;
  readonly journal: RoundJournal;
  readonly runner: SourceRunner;
  readonly isPreset: IsPreset;
  readonly maxResponseBytes: number;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** One node of an oracle network whose nodes don't trust each other. */
export interface OracleNode extends FunctionsNetwork {
  readonly take: Inbox["take"];
  /** What this node knows of all nodes, itself included. */
  peers(): readonly PeerView[];
}

interface Task {
  readonly entry: Entry<OracleRequest>;
  readonly round: RoundTask;
}

/**
 * Creates a node with one key: it runs each request's source by itself and agrees with the others by the protocol of
 * `protocol/PROTOCOL.md`. Everything but its journal follows from the chain.
 */
export function createOracleNode(options: OracleNodeOptions): OracleNode {
  const { client, coordinator, router, set, signer, log, signal } = options;
  const self = set.signers.indexOf(signer.address);
  const wire = createWire({ ...options, configDigest: set.configDigest, signers: set.signers });
  const peers = set.urls.map((url, index) => (index === self ? undefined : createPeer(url, signal)));
  const requestSet = createRequestSet<OracleRequest>();
  const tasks = new Map<Hex, Task>();
  const early = createEarlyMessages();
  const inbox = createInbox({ wire, signers: set.signers, onMessage });
  const views = createPeerViews({ set, self, lastHeardAt: inbox.lastHeardAt });
  const quota = createQuota<bigint>({ total: MAX_EXECUTING, each: MAX_EXECUTING_PER_SUBSCRIPTION });
  const alarm = createAlarm(() => review());
  let live = false;
  signal.addEventListener(
    "abort",
    () => {
      alarm.cancel();
      for (const { round } of tasks.values()) round.close();
    },
    { once: true },
  );

  function onMessage({ requestId, sealed }: Received): void {
    const task = tasks.get(requestId);
    if (task === undefined) early.add(requestId, sealed);
    else task.round.give({ type: "received", sealed });
  }

  /** Ends the rounds of requests that are answered or gone, and goes on with the others. */
  function review(): void {
    for (const [requestId, { entry, round }] of tasks) {
      if (requestSet.isOpen(entry)) continue;
      round.close();
      tasks.delete(requestId);
    }
    if (!live || signal.aborted) return;
    const now = performance.now();
    for (const entry of requestSet.open()) {
      if (!tasks.has(entry.request.requestId)) begin(entry);
      if (entry.state === "working") continue;
      if (entry.notBefore > now) alarm.within(entry.notBefore - now);
      else if (quota.take(entry.request.subscriptionId))
        void execute(entry, tasks.get(entry.request.requestId)!.round);
    }
  }

  function begin(entry: Entry<OracleRequest>): void {
    const { request } = entry;
    const { requestId } = request;
    const report = createNodeReport(request, set.configDigest);
    const round = createRoundTask({
      requestId,
      wire,
      journal: options.journal,
      round: {
        self,
        nodes: set.signers.length,
        faulty: set.faulty,
        order: transmitOrder(requestId, set.signers.length),
        commitmentOf: (reveal) => wire.commitmentOf(requestId, reveal),
        seal: (message) => wire.seal(requestId, message, signer),
        signReport: (rank, result) => report.sign(rank, result, signer),
      },
      send(to, bytes) {
        for (const [index, peer] of peers.entries()) if (to === "all" || to === index) peer?.send(bytes);
      },
      onTransmit(effect) {
        entry.why = `transmitting at stage ${effect.rank}`;
        void transmit(entry, effect, report.encode(effect.rank, effect.result, effect.endorsements));
      },
      onAccuse({ evidence }) {
        const accused = evidence.message.first.message.sender;
        views.accuse(accused);
        log.error(
          {
            requestId,
            node: accused,
            signer: set.signers[accused],
            evidence: Buffer.from(evidence.bytes).toString("hex"),
          },
          "functions: a node contradicted itself; the evidence is signed by it",
        );
      },
      onFailure(error) {
        log.error(
          { err: error, requestId },
          "functions: the journal of a request can't be used; it is tried again",
        );
        tasks.delete(requestId);
        alarm.within(requestSet.postpone(entry, "the journal can't be used", LONGEST_FREE_PAUSE_MS));
      },
    });
    tasks.set(requestId, { entry, round });
    for (const sealed of early.take(requestId)) round.give({ type: "received", sealed });
  }

  async function execute(entry: Entry<OracleRequest>, round: RoundTask): Promise<void> {
    const { request } = entry;
    entry.state = "working";
    entry.why = "running the source";
    try {
      await round.ready;
      if (!round.hasObserved) {
        const [observation] = await observe(request, { ...options, nodes: 1 });
        views.observed(request.requestId, observation!);
        round.give({ type: "observed", observation: observation!, salt: options.saltOf(request.requestId) });
      }
      entry.why = "agreeing with the other nodes";
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error, requestId: request.requestId }, "functions: the source could not be run now");
      const why = `the source could not be run yet: ${messageOf(error)}`;
      if (requestSet.isOpen(entry)) alarm.within(requestSet.postpone(entry, why, LONGEST_FREE_PAUSE_MS));
    } finally {
      quota.leave(request.subscriptionId);
      review();
    }
  }

  /** Sends a report; where it fails, the next stage is another node's. */
  async function transmit(
    entry: Entry<OracleRequest>,
    { rank }: RoundEffect & { readonly type: "transmit" },
    data: Hex,
  ): Promise<void> {
    const { request } = entry;
    if (!requestSet.isOpen(entry)) return;
    const fields = { requestId: request.requestId, stage: rank };
    try {
      const call = { to: coordinator, data, gas: gasOfReport([entry]) };
      const receipt = await options.transmitter.send(call, undefined);
      const outcome = readFunctionsOutcomes(receipt.logs).get(request.requestId);
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
  }

  function readRouter(eventLog: RawLog): void {
    const event = decodeLog(eventLog);
    if (event?.name !== "RequestProcessed") return;
    const { requestId, transmitter } = event;
    const entry = requestSet.find(requestId);
    if (entry === undefined) return;
    requestSet.finish(entry.request, eventLog.blockNumber);
    const { transactionHash } = eventLog;
    log.info({ requestId, transmitter, transactionHash }, "functions: answered");
    if (views.answered(event, transactionHash) === "differs")
      log.warn({ requestId, transactionHash }, "functions: the answer is not what this node saw");
  }

  return {
    take: inbox.take,
    peers: () => views.list(),
    onBlock(block, isLive) {
      live = isLive;
      for (const eventLog of block.logs) {
        if (eventLog.address === coordinator) readCoordinator(eventLog);
        else if (eventLog.address === router) readRouter(eventLog);
      }
      requestSet.onHead(block.number);
      review();
    },
    onReceipt(receipt) {
      for (const eventLog of receipt.logs) if (eventLog.address === coordinator) readCoordinator(eventLog);
      review();
    },
    onReorg: (firstReplaced) => requestSet.onReorg(firstReplaced),
    pending: () => requestSet.pending("functions"),
  };
}
