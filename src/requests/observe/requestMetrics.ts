import type { Logger } from "pino";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Attributes } from "@opentelemetry/api";
import type { RequestBook, RequestObserver } from "../requestBook.ts";
import type { OpenRequest } from "../openRequest.ts";
import { isEnded } from "../../domain/vocabulary.ts";
import { rootOf, tellRequest, tellStep } from "../../lib/spans.ts";

/** Buckets in seconds, from a stage that takes one turn of an embedded chain to the longest that a caller waits for an answer. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600];

/**
 * Registers the request metrics and returns the observer of every stored change. It counts requests, measures each stage, logs each
 * state with the request's id and its ids on chain, which the oracle's log lines have, too, and traces what has ended.
 */
export function createRequestObserver(options: {
  readonly registry: Registry;
  readonly log: Logger;
}): RequestObserver {
  const metrics = registerMetrics([options.registry]);
  return (request, told) => {
    count(metrics, request, told);
    write(options.log, request, told);
    trace(request, told);
  };
}

type Told = Parameters<RequestObserver>[1];

function registerMetrics(registers: Registry[]) {
  return {
    received: new Counter({
      name: "tyche_requests_received_total",
      help: "Requests accepted and stored.",
      labelNames: ["network", "kind"],
      registers,
    }),
    ended: new Counter({
      name: "tyche_requests_ended_total",
      help: "Requests that have ended, by how: fulfilled or failed.",
      labelNames: ["network", "kind", "state"],
      registers,
    }),
    failures: new Counter({
      name: "tyche_request_failures_total",
      help: "Requests that have failed, by code of the error; function_failed: the source failed on the oracle network.",
      labelNames: ["network", "kind", "code"],
      registers,
    }),
    reopened: new Counter({
      name: "tyche_requests_reopened_total",
      help: "Requests reopened because a reorg removed the block in which they had ended.",
      labelNames: ["network", "kind"],
      registers,
    }),
    stages: new Histogram({
      name: "tyche_request_stage_duration_seconds",
      help: "Time that requests spent in a state before the next one, by the state that they left.",
      labelNames: ["network", "kind", "stage"],
      buckets: SECONDS,
      registers,
    }),
    whole: new Histogram({
      name: "tyche_request_duration_seconds",
      help: "Time from a request's acceptance to its end, by how it ended.",
      labelNames: ["network", "kind", "state"],
      buckets: SECONDS,
      registers,
    }),
  };
}

function count(
  metrics: ReturnType<typeof registerMetrics>,
  { network, kind, error }: OpenRequest,
  { timeline, firstNew }: Told,
): void {
  for (const [index, { state, at }] of timeline.entries()) {
    if (index < firstNew) continue;
    const previous = timeline[index - 1];
    if (previous === undefined) metrics.received.inc({ network, kind });
    else if (isEnded(previous.state)) metrics.reopened.inc({ network, kind });
    else metrics.stages.observe({ network, kind, stage: previous.state }, (at - previous.at) / 1000);
    if (!isEnded(state)) continue;
    metrics.ended.inc({ network, kind, state });
    metrics.whole.observe({ network, kind, state }, (at - timeline[0]!.at) / 1000);
    if (state === "failed") metrics.failures.inc({ network, kind, code: error?.code ?? "function_failed" });
  }
}

function write(log: Logger, request: OpenRequest, { timeline, firstNew }: Told): void {
  const { id, network, kind, why, error } = request;
  if (firstNew === timeline.length && why !== null)
    log.debug({ request: id, network, kind, why }, "request waits");
  const { vrfRequestId, functionsRequestId, presetRequestId } = request.progress;
  for (const [index, { state, at, transactionHash, detail }] of timeline.entries()) {
    if (index < firstNew) continue;
    const previous = timeline[index - 1];
    const line = {
      request: id,
      network,
      kind,
      state,
      ...(transactionHash === undefined ? {} : { transactionHash }),
      ...(vrfRequestId === undefined ? {} : { vrfRequestId }),
      ...(functionsRequestId === undefined ? {} : { functionsRequestId }),
      ...(presetRequestId === undefined ? {} : { presetRequestId }),
      ...(detail === undefined ? {} : { detail }),
    };
    const ms = at - timeline[0]!.at;
    if (state === "fulfilled") log.info({ ...line, ms }, "request ended");
    else if (state === "failed") {
      const code = error?.code ?? "function_failed";
      const reason = error?.message ?? errOf(request);
      log[error === null ? "info" : "warn"]({ ...line, ms, code, reason }, "request ended");
    } else if (previous !== undefined && isEnded(previous.state)) log.warn(line, "request reopened");
    else log.debug(line, "request state");
  }
}

/** Returns the text that a source failed with. */
function errOf({ outcome }: OpenRequest): string | undefined {
  return outcome !== null && "err" in outcome ? outcome.err : undefined;
}

/** Registers the number of open requests, by state. */
export function registerOpenRequests(
  registry: Registry,
  book: RequestBook,
  networks: Iterable<string>,
): void {
  const names = [...networks];
  const open = new Gauge({
    name: "tyche_requests_open",
    help: "Open requests, by state.",
    labelNames: ["network", "kind", "state"],
    registers: [registry],
    collect() {
      open.reset();
      for (const network of names)
        for (const { kind, state } of book.open(network)) open.inc({ network, kind, state });
    },
  });
}

/**
 * Traces a request when it has ended, with a step for each state that it went through. Before, the on-chain id that names the
 * trace isn't known: that of the preset, the function or, for random numbers, the VRF request.
 */
const trace: RequestObserver = (request, { timeline, firstNew }) => {
  const end = timeline.at(-1);
  if (end === undefined || firstNew === timeline.length || !isEnded(end.state)) return;
  const { vrfRequestId, functionsRequestId, presetRequestId } = request.progress;
  const id = functionsRequestId ?? presetRequestId ?? vrfRequestId;
  if (id === undefined) return;
  tellRequest(id, {
    name: request.kind === "preset" ? `preset ${request.params.preset}` : request.kind,
    startMs: timeline[0]!.at,
    endMs: end.at,
    attributes: attributesOf(request),
    failure: request.error?.code ?? (end.state === "failed" ? "function_failed" : undefined),
    // Presets share a VRF request: the node that answered it traces it once, under its own id.
    links: vrfRequestId === undefined || vrfRequestId === id ? [] : [rootOf(vrfRequestId)],
  });
  for (const [index, { state, at, transactionHash }] of timeline.slice(0, -1).entries())
    tellStep(id, {
      name: state,
      startMs: at,
      endMs: timeline[index + 1]!.at,
      attributes: transactionHash === undefined ? {} : { "tyche.transaction": transactionHash },
    });
};

function attributesOf({ id, network, kind, progress, outcome }: OpenRequest): Attributes {
  const { vrfRequestId, functionsRequestId, presetRequestId } = progress;
  return {
    "tyche.request": id,
    "tyche.network": network,
    "tyche.kind": kind,
    ...(vrfRequestId === undefined ? {} : { "tyche.vrf_request": vrfRequestId }),
    ...(functionsRequestId === undefined ? {} : { "tyche.functions_request": functionsRequestId }),
    ...(presetRequestId === undefined ? {} : { "tyche.preset_request": presetRequestId }),
    ...(outcome === null ? {} : { "tyche.transaction": outcome.transactionHash }),
  };
}
