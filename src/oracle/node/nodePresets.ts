import type { Hex } from "viem";
import { isPureSource } from "../../../sandbox/index.ts";
import { readyRecord } from "../../chainlink/presetBatch.ts";
import { batchReportDigest, encodeBatchReport, encodeResults } from "../../chainlink/presetReport.ts";
import { describeUnconfirmed } from "../../chainlink/waitingText.ts";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import type { Answerer } from "../answerer.ts";
import type { Observation } from "../aggregateObservations.ts";
import { LONGEST_FREE_PAUSE_MS } from "../backoff.ts";
import type { CommitPipelining } from "../groupCommit.ts";
import {
  createPresetBatches,
  findReported,
  type BatchEntry,
  type BatchRequest,
} from "../batches/presetBatches.ts";
import { createBatchRunner, RUNNING_BATCHES, type BatchRunner } from "../batches/runBatch.ts";
import { agreeOnItems } from "../protocol/agree.ts";
import type { Message } from "../protocol/message.ts";
import { joinSignature, maxObservationBytes } from "../protocol/wire.ts";
import { createRequestWork, type RequestWork, type Run } from "../requestWork.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import type { ProofTaker } from "./inbox.ts";
import type { Membership, TaskHooks } from "./membership.ts";
import { NOT_A_MEMBER, type NodeFunctionsOptions } from "./nodeFunctions.ts";
import { splitSignature } from "./nodeReport.ts";
import { answerKey } from "./peerViews.ts";
import { createPresetDelivery } from "./presetDelivery.ts";
import type { RoundTask } from "./roundTask.ts";
import { createWordProofs } from "./wordProofs.ts";
import type { RawLog } from "../../lib/nodeAnswers.ts";

/** How many answered batches are remembered, so that late messages about them are not kept. */
const MAX_ANSWERED = 4_096;

export interface NodePresetsOptions extends Omit<
  NodeFunctionsOptions,
  "coordinator" | "router" | "openSecrets" | "onConfigSet"
> {
  readonly chainId: number;
  /** Lower case. */
  readonly presetConsumer: Hex;
  readonly vrfCoordinator: Hex;
  readonly batchVrfCoordinator: Hex;
  readonly pipelining: CommitPipelining;
}

/** One node's part in answering presets. What the nodes agree upon is a batch with its seed: its id is the `ready` record. */
export interface NodePresets extends Answerer, ProofTaker {
  /** Whether the batch with this id was answered recently. */
  isAnswered(id: Hex): boolean;
  /** Called with each message of a node that may be about a batch. */
  onMessage(id: Hex, signer: Hex, message: Message): void;
  /** Ends all rounds, as the configuration has changed. */
  leave(): void;
}

/**
 * Creates one node's part in answering presets.
 *
 * A batch's seed becomes known from a valid proof, sent by whoever has one, or from the chain. Then the node runs the batch and takes part
 * in the round that signs its results: without commitments if all sources are pure. In its turn it delivers the report, along with the proof
 * if the word is not on chain yet.
 */
export function createNodePresets(options: NodePresetsOptions): NodePresets {
  const { chainId, presetConsumer, signer, views, log } = options;
  const batches = createPresetBatches({ ...options, onDue: () => review() });
  const { requests } = batches;
  const work: RequestWork = createRequestWork({
    ...options,
    kind: "presets",
    requests,
    places: RUNNING_BATCHES,
    read,
    // Ends the rounds of what is answered or gone.
    onReview: () => options.member()?.sweep(),
    next(entry) {
      const of = options.member();
      return of && nextOf(of, entry);
    },
  });
  const { beacons, review } = work;
  const runner = createBatchRunner({ ...options, beacons, nodes: 1 });
  const words = createWordProofs({ ...options, batches, onProven: () => review() });
  const delivery = createPresetDelivery({ ...options, batches, words });
  /** By entry: the id of the batch that this node is at work on. */
  const begun = new WeakMap<BatchEntry, Hex>();
  const observeOnce = createObservations(runner);
  const answered = createBoundedMap<Hex, true>(MAX_ANSWERED);

  function nextOf(of: Membership, entry: BatchEntry): Run | string | undefined {
    const { request } = entry;
    const id = idOf(entry);
    if (id === undefined) return "waiting for its random word";
    if (entry.state === "working" && begun.get(entry) === id) return undefined;
    const obstacle = obstacleOf(entry);
    if (obstacle !== undefined) return obstacle;
    const isCurrent = (): boolean =>
      options.member() === of && requests.isOpen(entry) && begun.get(entry) === id;
    return {
      why: "running its presets",
      isCurrent,
      async run() {
        begun.set(entry, id);
        const isDerived = (await runner.sourcesOf(request)).every(
          (source) => source === undefined || isPureSource(source),
        );
        if (!isCurrent()) return;
        const task = of.tasks.get(id) ?? begin(of, entry, { id, isDerived });
        await task.ready;
        if (!task.hasObserved) {
          const longest = isDerived ? undefined : maxObservationBytes(of.set.signers.length);
          const seed = (): bigint => batches.seedOf(entry)!.value;
          const observation = await observeOnce(request, { id, seed, longest });
          if (!isCurrent()) return;
          const key = isDerived ? digestOf(of, entry, id, observation) : answerKey(observation);
          views.observed(id, signer.address, key);
          task.give({ type: "observed", observation, salt: options.saltOf(of.set.configDigest, id) });
        }
        entry.why = beacons.describeAgreement(request);
      },
    };
  }

  /** Returns why a batch whose seed is known can't be begun yet. */
  function obstacleOf(entry: BatchEntry): string | undefined {
    const { blockNumber } = entry.request;
    const confirmations = words.confirmationsOf(entry.request);
    const unconfirmed = describeUnconfirmed({ blockNumber, confirmations }, requests.head());
    if (batches.seedOf(entry)?.block === undefined && unconfirmed !== undefined) return unconfirmed;
    return requests.isPaused(entry) ? entry.why : undefined;
  }

  /** Returns the id of a batch with its seed, once that is known. */
  function idOf(entry: BatchEntry): Hex | undefined {
    const seed = batches.seedOf(entry);
    return seed && readyRecord(entry.request.batch, seed.value);
  }

  function begin(
    of: Membership,
    entry: BatchEntry,
    { id, isDerived }: { readonly id: Hex; readonly isDerived: boolean },
  ): RoundTask {
    const { requestId, items, beacon } = entry.request;
    // A round of drand has its signature among the results.
    const count = items.length + (beacon === undefined ? 0 : 1);
    const hooks: TaskHooks = {
      onTransmit({ rank: stage, result, endorsements }) {
        entry.why = `transmitting at stage ${stage}`;
        const signatures = endorsements.map(({ sender: index, signature }) => ({
          index,
          ...splitSignature(signature),
        }));
        delivery.push({ entry, stage, report: { report: reportOf(entry, id, result), signatures } });
      },
      onAccuse: (effect) => options.onAccuse(of, id, effect),
      onFailure(error) {
        log.error({ err: error, requestId }, "presets: the journal of a batch can't be used; retrying");
        of.end(id);
        requests.postpone(entry, "the journal can't be used", LONGEST_FREE_PAUSE_MS);
      },
    };
    return of.begin(
      {
        id,
        isDerived,
        isOpen: () => requests.isOpen(entry) && begun.get(entry) === id,
        agree: (observed) => agreeOnItems(observed, { faulty: of.set.faulty, items: count }),
        signReport(_, result) {
          const digest = digestOf(of, entry, id, result);
          return { digest, signature: toHexText(joinSignature(signer.sign(fromHexText(digest)))) };
        },
      },
      hooks,
    );
  }

  function digestOf(
    { set: { configDigest } }: Membership,
    entry: BatchEntry,
    id: Hex,
    result: Observation,
  ): Hex {
    return toHexText(
      batchReportDigest(reportOf(entry, id, result), { chainId, presetConsumer, configDigest }),
    );
  }

  /** Reads a block's logs. */
  function read(logs: readonly RawLog[]): void {
    const reported = logs.flatMap((one) => {
      const event = findReported(presetConsumer, one);
      const entry = event && requests.find(event.vrfRequestId);
      return event && entry ? [{ entry, results: event.results, transactionHash: one.transactionHash }] : [];
    });
    batches.read(logs);
    words.read(logs);
    for (const { entry, results, transactionHash } of reported) onReported(entry, results, transactionHash);
  }

  function onReported(entry: BatchEntry, results: Hex, transactionHash: Hex): void {
    const { requestId } = entry.request;
    const id = idOf(entry);
    if (id === undefined) return;
    answered.set(id, true);
    log.info({ requestId, transactionHash }, "presets: answered");
    const observation = { ok: true, bytes: fromHexText(results) };
    const of = options.member();
    const keys = [
      answerKey(observation),
      ...(of === undefined ? [] : [digestOf(of, entry, id, observation)]),
    ];
    if (views.answered(id, keys).includes(signer.address))
      log.warn({ requestId, transactionHash }, "presets: the answer is not what this node saw");
  }

  return {
    wants: (requestId) => words.wants(requestId),
    take: (requestId, proof, address) => words.take(requestId, proof, address),
    isAnswered: (id) => answered.get(id) === true,
    onMessage(id, signerOf, message) {
      // The fastest nodes sign before this one knows the seed.
      if (message.kind === "endorsement") views.observed(id, signerOf, message.digest);
      else if (message.kind === "reveal" && options.member()?.tasks.has(id))
        views.observed(id, signerOf, answerKey(message.observation));
    },
    addresses: [options.vrfCoordinator, options.batchVrfCoordinator, presetConsumer],
    onBlock: work.onBlock,
    onReorg(firstReplaced) {
      runner.forgetSources();
      return batches.onReorg(firstReplaced);
    },
    leave: () => requests.restart(NOT_A_MEMBER),
    pending: () => requests.pending("presets"),
  };
}

function reportOf({ request }: BatchEntry, ready: Hex, result: Observation): Uint8Array {
  return encodeBatchReport([{ vrfRequestId: request.requestId, ready, results: result.bytes }]);
}

/** Keeps results by id, made or in progress in this process: a batch runs once, even if the configuration changes. */
function createObservations(runner: Pick<BatchRunner, "run">) {
  const observations = new WeakMap<
    BatchRequest,
    { readonly id: Hex; readonly result: Promise<Observation> }
  >();
  /** Runs a batch. `longest`: maximum bytes of all results together; those that exceed their part are errors. */
  return (
    request: BatchRequest,
    {
      id,
      seed,
      longest,
    }: { readonly id: Hex; readonly seed: () => bigint; readonly longest: number | undefined },
  ): Promise<Observation> => {
    const known = observations.get(request);
    if (known?.id === id) return known.result;
    const result = runner.run(request, seed()).then((observed) => {
      const most = longest === undefined ? Infinity : Math.floor(longest / observed.length) - 2;
      return { ok: true, bytes: encodeResults(observed.map(([one]) => fit(one!, most))) };
    });
    observations.set(request, { id, result });
    result.catch(() => observations.delete(request));
    return result;
  };
}

/** Returns an observation, or an error if it has more bytes than that. */
function fit(observation: Observation, most: number): Observation {
  const { length } = observation.bytes;
  if (length <= most) return observation;
  const text = `${length} bytes, at most ${most} fit in this batch`;
  return { ok: false, bytes: new TextEncoder().encode(text).subarray(0, most) };
}
