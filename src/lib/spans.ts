import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from "@opentelemetry/api";
import type { Attributes, SpanContext } from "@opentelemetry/api";

/** One step of the way of a request, from Unix times in milliseconds. Attributes hold ids and counts, never what a caller sent. */
export interface Step {
  readonly name: string;
  readonly startMs: number;
  /** Default: now. */
  readonly endMs?: number;
  readonly attributes?: Attributes;
  /** Code of the error that it ended with. */
  readonly failure?: string | undefined;
  /** What else it belongs to. */
  readonly links?: readonly SpanContext[];
  /** Whether it answers a call from outside. */
  readonly isCall?: boolean;
}

/** Does nothing until an exporter is there. */
const tracer = trace.getTracer("tyche");

/** What a root span is to be called; see {@link idGenerator}. */
let root: SpanContext | undefined;

/**
 * Makes the ids of spans as OpenTelemetry's SDK asks for them: at random, but for the root of a request, whose ids every process finds by
 * itself.
 */
export const idGenerator = {
  generateTraceId: (): string => root?.traceId ?? randomHex(16),
  generateSpanId: (): string => root?.spanId ?? randomHex(8),
};

/**
 * Gives the root span of a request: the id that the chain knows it by (a VRF or a Functions request id, 32 bytes) begins with the trace's
 * id (16 bytes) and goes on with the span's (8 bytes). So a service and an oracle that have only the chain in common tell one trace.
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

/** Tells of the whole of a request. Does nothing in a process that exports no traces. */
export function tellRequest(requestId: string, request: Step): void {
  root = rootOf(requestId);
  try {
    tell(undefined, request);
  } finally {
    root = undefined;
  }
}

/** Tells of one step of a request, in whichever process it was taken. Does nothing in a process that exports no traces. */
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
