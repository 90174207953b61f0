import type { Hex } from "viem";
import type { ChainClient } from "../../evm/client.ts";
import type { Sender } from "../../evm/sender.ts";
import type { BeaconRounds } from "../../beacon/beaconRounds.ts";
import { fromHexText } from "../../lib/hex.ts";
import { shareByKey } from "../../lib/memo.ts";
import type { Answerer } from "../answerer.ts";
import type { Observation } from "../aggregateObservations.ts";
import { LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import { createCoordinatorReader, sendReport, type FunctionsContracts } from "../functions/coordinator.ts";
import { observe, RUNNING_FUNCTIONS, type OpenSecrets, type SourceRunner } from "../functions/execute.ts";
import type { OracleRequest } from "../functions/oracleRequest.ts";
import type { OracleLog } from "../log.ts";
import { agree } from "../protocol/agree.ts";
import type { Message } from "../protocol/message.ts";
import type { RoundEffect } from "../protocol/roundTypes.ts";
import { createRequestSet, type Entry } from "../requestSet.ts";
import { createRequestWork, type RequestWork, type Run } from "../requestWork.ts";
import type { ReportSigner } from "../signer.ts";
import type { Membership, TaskHooks } from "./membership.ts";
import { createNodeReport } from "./nodeReport.ts";
import { answerKey, type PeerViews } from "./peerViews.ts";
import type { RoundTask } from "./roundTask.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";

/** Why requests wait that others have to answer. */
export const NOT_A_MEMBER = "this node is not in the coordinator's configuration";

export interface NodeFunctionsOptions extends FunctionsContracts {
  readonly client: Pick<ChainClient, "call" | "getHead" | "request">;
  readonly signer: ReportSigner;
  readonly transmitter: Sender;
  /** Returns the 32-byte salt of an observation under a configuration: deterministic, and known to nobody else. */
  readonly saltOf: (configDigest: Hex, id: Hex) => Hex;
  /** Opens the secrets of requests; absent if this node holds none. */
  readonly openSecrets?: OpenSecrets | undefined;
  readonly runner: SourceRunner;
  readonly beaconRounds: BeaconRounds;
  readonly maxResponseBytes: number;
  /** This node's place in the current configuration; `undefined` while it has none. */
  readonly member: () => Membership | undefined;
  readonly views: PeerViews;
  readonly onAccuse: (of: Membership, id: Hex, effect: RoundEffect & { readonly type: "accuse" }) => void;
  /** See {@link createCoordinatorReader}. */
  readonly onConfigSet: (eventLog: RawLog) => void;
  readonly log: OracleLog;
  readonly signal: AbortSignal;
}

/** One node's part in answering functions. What the nodes agree upon is a request. */
export interface NodeFunctions extends Answerer {
  /** Returns a request that this node sees as open on chain. */
  find(requestId: Hex): OracleRequest | undefined;
  /** Whether a request was answered recently. */
  isAnswered(requestId: Hex): boolean;
  /** Called with each message of a node about an open request. */
  onMessage(requestId: Hex, signer: Hex, message: Message): void;
  /** Looks again at what can be done. */
  review(): void;
  /** Ends all rounds, as the configuration has changed. */
  leave(): void;
}

/** Creates one node's part in answering functions: it runs each request's source on its own, and takes part in the round that signs a result. */
export function createNodeFunctions(options: NodeFunctionsOptions): NodeFunctions {
  const { client, signer, views, onAccuse, log, signal } = options;
  const requestSet = createRequestSet<OracleRequest>({ onDue: () => review(), signal });
  /** Observations made or in progress in this process: a source runs once, even if the configuration changes. */
  const observations = new WeakMap<OracleRequest, Promise<Observation>>();
  const work: RequestWork = createRequestWork({
    ...options,
    kind: "functions",
    requests: requestSet,
    places: RUNNING_FUNCTIONS,
    read: (logs) => readLogs(logs),
    // Ends the rounds of requests that are answered or gone.
    onReview: () => options.member()?.sweep(),
    next(entry) {
      const of = options.member();
      return of && nextOf(of, entry);
    },
  });
  const { beacons, review } = work;

  function nextOf(of: Membership, entry: Entry<OracleRequest>): Run | string | undefined {
    const { request } = entry;
    const { requestId } = request;
    const unknown = beacons.findUnknown(request);
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
        if (isCurrent()) entry.why = beacons.describeAgreement(request);
      },
    };
  }

  function begin(of: Membership, entry: Entry<OracleRequest>): RoundTask {
    const { request } = entry;
    const { requestId } = request;
    const { configDigest } = of.set;
    const report = createNodeReport(request, { configDigest, beaconSignature: beacons.signatureOf(request) });
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

  function observeOnce(request: OracleRequest): Promise<Observation> {
    return shareByKey(observations, request, async () => {
      const [observation] = await observe(request, { ...options, beacons, nodes: 1 });
      return observation!;
    });
  }

  /** Sends a report; if that fails, the next stage is another node's. */
  async function transmit(entry: Entry<OracleRequest>, stage: number, data: Hex): Promise<void> {
    const { request } = entry;
    if (!requestSet.isOpen(entry)) return;
    const fields = { requestId: request.requestId, stage };
    try {
      const { transmitter } = options;
      const sent = await sendReport(data, { entries: [entry], contracts: options, transmitter, client });
      const { transactionHash, succeeded } = sent.receipt;
      const outcome = sent.outcomes.get(request.requestId);
      const told = { ...fields, transactionHash, result: outcome?.result };
      if (succeeded) log.info(told, "functions: transmitted");
      else {
        const { text } = await sent.findReason();
        log.error({ ...told, reason: text }, "functions: the coordinator refused a report");
      }
      if (outcome?.result === "INSUFFICIENT_GAS_PROVIDED") requestSet.raiseGas(entry);
      if (outcome?.result === "INVALID_COMMITMENT") requestSet.drop(request.requestId);
    } catch (error) {
      if (!signal.aborted) log.error({ err: error, ...fields }, "functions: report was not sent");
    }
  }

  const readLogs = createCoordinatorReader({
    contracts: options,
    requests: requestSet,
    onConfigSet: options.onConfigSet,
    onAnswered({ requestId, transmitter, response, err }, { transactionHash }) {
      log.info({ requestId, transmitter, transactionHash }, "functions: answered");
      views.transmitted(transmitter, transactionHash);
      const answer = err === "0x" ? { ok: true, bytes: response } : { ok: false, bytes: err };
      const key = answerKey({ ok: answer.ok, bytes: fromHexText(answer.bytes) });
      if (views.answered(requestId, [key]).includes(signer.address))
        log.warn({ requestId, transactionHash }, "functions: the answer is not what this node saw");
    },
  });

  return {
    find: (requestId) => requestSet.find(requestId)?.request,
    isAnswered: (requestId) => requestSet.isAnswered(requestId),
    onMessage(requestId, peer, message) {
      if (message.kind === "reveal") views.observed(requestId, peer, answerKey(message.observation));
    },
    review,
    addresses: [options.coordinator, options.router],
    onBlock: work.onBlock,
    onReorg: (firstReplaced) => requestSet.onReorg(firstReplaced),
    leave: () => requestSet.restart(NOT_A_MEMBER),
    pending: () => requestSet.pending("functions"),
  };
}
