import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** The HTTP layer's own metrics, in the given registry. */
export interface HttpMetrics {
  readonly registry: Registry;
  readonly duration: Histogram<"method" | "route" | "status">;
  readonly errors: Counter<"code">;
  readonly inFlight: Gauge;
  readonly streams: Gauge;
}

/** Registers the metrics. Throws if the registry already has them: one app per registry. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  const registers = [registry];
  return {
    registry,
    duration: new Histogram({
      name: "tyche_http_request_duration_seconds",
      help: "Time from the first byte of a request to the end of its answer, by route and status; 499: the caller disconnected.",
      labelNames: ["method", "route", "status"],
      // From a response served from memory up to the wait limit of a call.
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
      registers,
    }),
    errors: new Counter({
      name: "tyche_http_errors_total",
      help: "Answers with an error, by its code.",
      labelNames: ["code"],
      registers,
    }),
    inFlight: new Gauge({
      name: "tyche_http_requests_in_flight",
      help: "Requests being answered, event streams included.",
      registers,
    }),
    streams: new Gauge({
      name: "tyche_http_event_streams",
      help: "Event streams open.",
      registers,
    }),
  };
}
