import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { rootOf } from "../../src/lib/spans.ts";
import { startOracleProcess } from "../support/tyche.ts";
import type { OracleChild, TycheProcess } from "../support/tyche.ts";
import { startTraceCollector, type CollectedSpan } from "../support/traceCollector.ts";
import { startIntervalAnvil, type StrangersChain } from "./support/chain.ts";
import { deployByCommands, NETWORK, prepareParties, startService, type TwoParties } from "./support/world.ts";

const CALLER_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

let chain: StrangersChain;
let parties: TwoParties;
let collector: Awaited<ReturnType<typeof startTraceCollector>>;
let oracle: OracleChild;
let tyche: TycheProcess;

beforeAll(async () => {
  [chain, collector] = await Promise.all([startIntervalAnvil(), startTraceCollector()]);
  parties = prepareParties(chain);
  await deployByCommands(parties);
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  [oracle, tyche] = await Promise.all([
    startOracleProcess({ ...parties.oracle, ...environment }),
    startService({ ...parties, service: { ...parties.service, ...environment } }),
  ]);
});
afterAll(async () => {
  await Promise.all([tyche?.stop("SIGKILL"), oracle?.stop("SIGKILL")]);
  collector?.close();
  await chain?.close();
  parties?.remove();
});

const shapeOf = ({ service, name, parentSpanId }: CollectedSpan) => ({ service, name, parentSpanId });

test("one trace goes from the call over the dispatch to the oracle's report, across processes", async () => {
  const { data, headers } = await tyche.call(
    "POST",
    `/api/vrfv2/presets?network=${NETWORK}&preset=coinflip`,
    { headers: { traceparent: `00-${CALLER_TRACE}-00f067aa0ba902b7-01` } },
  );
  const words = await tyche.call("POST", `/api/vrfv2/requestRandomNumber?network=${NETWORK}`);
  expect([data.success, words.data.success]).toEqual([true, true]);
  const { traceId, spanId } = rootOf(data.requestId);
  const random = rootOf(words.data.requestId);
  const namesIn = (id: string) =>
    collector.spans.filter((span) => span.traceId === id).map(({ name }) => name);
  // Spans are sent at the service's end at the latest; the oracle gets its receipts some time after the service gets the results.
  await tyche.stop();
  const root = await vi.waitFor(() => {
    const span = collector.spans.find((one) => one.spanId === spanId);
    expect(namesIn(traceId)).toContain("report");
    for (const proved of [random.traceId, span!.links![0]!.traceId])
      expect(namesIn(proved)).toContain("prove words");
    return span!;
  });

  const trace = collector.spans.filter((span) => span.traceId === traceId);
  expect(root).toMatchObject({ service: "tyche", name: "preset coinflip" });
  expect(root.attributes).toContainEqual({
    key: "tyche.request",
    value: { stringValue: headers.get("tyche-request-id") },
  });
  const steps = trace.filter((span) => span !== root);
  expect(steps.every(({ parentSpanId }) => parentSpanId === spanId)).toBe(true);
  expect(steps.map(({ service, name }) => `${service}: ${name}`).sort()).toEqual(
    [
      "tyche: POST /api/vrfv2/presets",
      ...["received", "submitted", "randomness"].map((state) => `tyche: ${state}`),
      "tyche-oracle: run source",
      "tyche-oracle: report",
    ].sort(),
  );
  // The states follow each other without a gap, from the first to the last moment of the request.
  const states = steps.filter(({ name }) => /^[a-z]+$/.test(name) && name !== "report");
  expect([states[0]!.startTimeUnixNano, ...states.map(({ endTimeUnixNano }) => endTimeUnixNano)]).toEqual([
    ...states.map(({ startTimeUnixNano }) => startTimeUnixNano),
    root.endTimeUnixNano,
  ]);
  expect(steps.find(({ name }) => name.startsWith("POST"))!.links).toMatchObject([{ traceId: CALLER_TRACE }]);

  // The words have a trace of their own, which other presets may share.
  const [link] = root.links!;
  const answered = collector.spans.filter((span) => span.traceId === link!.traceId);
  expect(answered.map(shapeOf)).toEqual([
    { service: "tyche-oracle", name: "prove words", parentSpanId: link!.spanId },
  ]);
  expect(namesIn(random.traceId)).toEqual(
    expect.arrayContaining(["random", "submitted", "POST /api/vrfv2/requestRandomNumber"]),
  );
  expect(JSON.stringify(collector.spans)).not.toContain(tyche.apiKey);
});
