import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { createRequestObserver } from "../../../src/requests/observe/requestMetrics.ts";
import type { OpenRequest } from "../../../src/requests/openRequest.ts";

const HASH = `0x${"ab".repeat(32)}` as const;
const entry = (seq: number, state: OpenRequest["state"], at: number) => ({ seq, state, at });

/** Creates an observer, with what it wrote and what it counted. */
function world() {
  const registry = new Registry();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const observe = createRequestObserver({ registry, log });
  const valueOf = async (name: string, labels: Record<string, string> = {}): Promise<number | undefined> => {
    const metrics = (await registry.getMetricsAsJSON()).flatMap(({ values }) => values) as readonly {
      readonly metricName?: string;
      readonly value: number;
      readonly labels: Record<string, string | number>;
    }[];
    const single = registry.getSingleMetric(name);
    const values =
      single === undefined
        ? metrics.filter(({ metricName }) => metricName === name)
        : (await single.get()).values;
    return values.find((one) =>
      Object.entries(labels).every(
        ([label, value]) => (one.labels as Record<string, unknown>)[label] === value,
      ),
    )?.value;
  };
  return { observe, lines, valueOf };
}

const PLAN = { sourceHash: HASH, args: [], returnType: "string" } as const;
const OUTCOME = { transactionHash: HASH, requestId: HASH, result: "0x", parsedResult: "" } as const;

function request(changes: Partial<Extract<OpenRequest, { readonly kind: "preset" }>>): OpenRequest {
  return {
    id: "req_1",
    dappId: "dapp_1",
    kind: "preset",
    network: "sepolia",
    params: { preset: "coinflip" },
    idempotencyKey: null,
    bodyHash: HASH,
    createdAt: 1_000,
    updatedAt: 1_000,
    state: "received",
    why: null,
    timeline: [],
    progress: PLAN,
    outcome: null,
    error: null,
    endedIn: null,
    version: 1,
    ...changes,
  };
}

test("each stage is measured by the state that was left, and the whole by its end", async () => {
  const { observe, valueOf } = world();
  const timeline = [
    entry(1, "received", 1_000),
    entry(2, "submitted", 1_010),
    entry(3, "randomness", 1_040),
    entry(4, "executing", 1_040),
    entry(5, "fulfilled", 1_100),
  ];
  observe(request({}), { timeline: timeline.slice(0, 1), firstNew: 0 });
  observe(request({}), { timeline: timeline.slice(0, 2), firstNew: 1 });
  observe(request({}), { timeline, firstNew: 2 });
  const labels = { network: "sepolia", kind: "preset" };
  expect(await valueOf("tyche_requests_received_total", labels)).toBe(1);
  expect(await valueOf("tyche_requests_ended_total", { ...labels, state: "fulfilled" })).toBe(1);
  const stage = (name: string) =>
    valueOf("tyche_request_stage_duration_seconds_sum", { ...labels, stage: name });
  expect(await stage("received")).toBeCloseTo(0.01);
  expect(await stage("submitted")).toBeCloseTo(0.03);
  expect(await stage("randomness")).toBe(0);
  expect(await stage("executing")).toBeCloseTo(0.06);
  expect(await valueOf("tyche_request_duration_seconds_sum", labels)).toBeCloseTo(0.1);
});

test("an end that was taken back counts as such, and is no stage", async () => {
  const { observe, valueOf, lines } = world();
  const timeline = [
    entry(1, "received", 0),
    entry(2, "fulfilled", 5),
    { ...entry(3, "submitted", 1_005), detail: "a reorg removed the request" },
  ];
  observe(request({}), { timeline, firstNew: 2 });
  const labels = { network: "sepolia", kind: "preset" };
  expect(await valueOf("tyche_requests_reopened_total", labels)).toBe(1);
  expect(
    await valueOf("tyche_request_stage_duration_seconds_sum", { ...labels, stage: "fulfilled" }),
  ).toBeUndefined();
  expect(lines).toMatchObject([{ request: "req_1", state: "submitted", msg: "request reopened" }]);
});

test("a failure counts by its code, one of the source's own as function_failed", async () => {
  const { observe, valueOf } = world();
  const timeline = [entry(1, "received", 0), entry(2, "failed", 5)];
  const error = { code: "request_failed", message: "reverted" };
  observe(request({ error }), { timeline, firstNew: 1 });
  observe(request({ outcome: { ...OUTCOME, err: "boom" } }), { timeline, firstNew: 1 });
  expect(await valueOf("tyche_request_failures_total", { code: "request_failed" })).toBe(1);
  expect(await valueOf("tyche_request_failures_total", { code: "function_failed" })).toBe(1);
});

test("every line carries the request's id, and its ids on chain once they are known", () => {
  const { observe, lines } = world();
  observe(request({ why: "waiting for confirmation 1 of 3" }), {
    timeline: [entry(1, "received", 0)],
    firstNew: 1,
  });
  observe(request({ progress: { ...PLAN, vrfRequestId: HASH, presetRequestId: HASH } }), {
    timeline: [entry(1, "received", 0), entry(2, "randomness", 1)],
    firstNew: 1,
  });
  expect(lines).toMatchObject([
    { request: "req_1", network: "sepolia", why: "waiting for confirmation 1 of 3", msg: "request waits" },
    {
      request: "req_1",
      state: "randomness",
      vrfRequestId: HASH,
      presetRequestId: HASH,
      msg: "request state",
    },
  ]);
});
