import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type SpanContext,
} from "@opentelemetry/api";
import type { Hex } from "viem";
import type { Receipt } from "./nodeAnswers.ts";

/** One step in the processing of a request, with Unix times in milliseconds. Attributes hold ids and counts, never what a caller sent. */
export interface Step {
  readonly name: string;
  readonly startMs: number;
  /** Default: now. */
  readonly endMs?: number;
  readonly attributes?: Attributes;
  /** Code of the error that ended it. */
  readonly failure?: string | undefined;
  /** Other spans that it belongs to. */
  readonly links?: readonly SpanContext[];
  /** Whether it answers an external call. */
  readonly isCall?: boolean;
}

/** Does nothing until an exporter is registered. */
const tracer = trace.getTracer("tyche");

/** Ids for the root span being created; see {@link idGenerator}. */
let root: SpanContext | undefined;

/** Generates span ids for OpenTelemetry's SDK: random ones, except for the root of a request, whose ids every process derives by itself. */
export const idGenerator = {
  generateTraceId: (): string => root?.traceId ?? randomHex(16),
  generateSpanId: (): string => root?.spanId ?? randomHex(8),
};

/**
 * Returns the root span of a request. The id that the chain knows the request by (a VRF or a Functions request id, 32 bytes) starts with
 * the trace's id (16 bytes), followed by the span's (8 bytes). So a service and an oracle that have only the chain in common contribute
 * to one trace.
 */
export function rootOf(requestId: string): SpanContext {
  const digits = requestId.slice(2).padStart(64, "0");
  return {
    traceId: digits.slice(0, 32),
    spanId: digits.slice(32, 48),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
}

/** Parses the header `traceparent` of W3C Trace Context, version 00; `undefined` for anything else. */
export function parseTraceparent(header: string): SpanContext | undefined {
  const match = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(header);
  if (match === null) return undefined;
  return {
    traceId: match[1]!,
    spanId: match[2]!,
    traceFlags: Number.parseInt(match[3]!, 16),
    isRemote: true,
  };
}

/** Reports a whole request to tracing. Does nothing in a process that exports no traces. */
export function tellRequest(requestId: string, request: Step): void {
  root = rootOf(requestId);
  try {
    tell(undefined, request);
  } finally {
    root = undefined;
  }
}

/** Reports one step of a request to tracing, from whichever process took it. Does nothing in a process that exports no traces. */
export function tellStep(requestId: string, step: Step): void {
  tell(rootOf(requestId), step);
}

function tell(parent: SpanContext | undefined, step: Step): void {
  const { name, startMs, attributes = {}, failure, links = [], isCall = false } = step;
  const span = tracer.startSpan(
    name,
    {
      root: parent === undefined,
      kind: isCall ? SpanKind.SERVER : SpanKind.INTERNAL,
      startTime: startMs,
      attributes: failure === undefined ? attributes : { ...attributes, "error.type": failure },
      links: links.map((context) => ({ context })),
    },
    parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
  );
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span.end(step.endMs ?? Date.now());
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
}

/** Reports to tracing a transaction that was to answer some requests. `startMs`: when work on it started, Unix time in milliseconds. */
export function tellAnswers(
  name: "prove words" | "report",
  requestIds: readonly Hex[],
  { startMs, receipt }: { readonly startMs: number; readonly receipt: Receipt },
): void {
  for (const requestId of requestIds)
    tellStep(requestId, {
      name,
      startMs,
      attributes: { "tyche.transaction": receipt.transactionHash },
      failure: receipt.succeeded ? undefined : "reverted",
    });
}
