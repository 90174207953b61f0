import { DiagLogLevel, diag, trace } from "@opentelemetry/api";
import type { Logger } from "pino";
import { messageOf } from "../lib/errors.ts";
import { idGenerator } from "../lib/spans.ts";
import { StartError } from "./startError.ts";

/** Variables from OpenTelemetry's specification that say where traces go. */
const TARGETS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/** Starts something and exports its traces until it is closed; see {@link startTracing}. */
export async function startTraced<Running extends { close(): Promise<void> }>(
  name: string,
  { log }: { readonly log: Logger },
  start: () => Promise<Running>,
): Promise<Running> {
  const stop = await startTracing(process.env, { name, log });
  try {
    const running = await start();
    const close = async (): Promise<void> => {
      try {
        await running.close();
      } finally {
        await stop();
      }
    };
    return { ...running, close };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Exports this process's traces by OTLP over HTTP with JSON if a variable `OTEL_EXPORTER_OTLP_…ENDPOINT` is set; the exporter itself reads
 * all other `OTEL_*`. Loads no exporter code otherwise.
 *
 * @param name default of `OTEL_SERVICE_NAME`.
 * @returns a function that exports what is left, and stops.
 * @throws {StartError} when the packages that export are not installed.
 */
async function startTracing(
  environment: Readonly<Record<string, string | undefined>>,
  { name, log }: { readonly name: string; readonly log: Logger },
): Promise<() => Promise<void>> {
  const isOff =
    environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" ||
    environment["OTEL_TRACES_EXPORTER"] === "none";
  if (isOff || TARGETS.every((target) => (environment[target] ?? "") === "")) return async () => {};
  const { sdk, exporter, resources } = await loadExporter();
  const warn = (message: string): void => log.warn({ reason: message }, "can't export traces");
  diag.setLogger({ error: warn, warn, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
  const provider = new sdk.TracerProvider({
    idGenerator,
    resource: resources
      .resourceFromAttributes({ "service.name": name })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new exporter.OTLPTraceExporter() })],
  });
  trace.setGlobalTracerProvider(provider);
  return async () => {
    await provider.shutdown().catch((error: unknown) => warn(messageOf(error)));
  };
}

async function loadExporter() {
  try {
    const [sdk, exporter, resources] = await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
    return { sdk, exporter, resources };
  } catch (cause) {
    throw new StartError(
      "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the trace exporter is not installed: npm install @opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http @opentelemetry/resources, or unset the variable",
      cause,
    );
  }
}
