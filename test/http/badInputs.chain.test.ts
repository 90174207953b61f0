import { beforeAll, afterAll, expect, test } from "vitest";
import { pino } from "pino";
import { createLiveSchemas } from "../../src/http/liveSchemas.ts";
import { startHttp, type HttpServer } from "../../src/http/server.ts";
import { BAD_INPUTS, sendBadInput } from "./badInputs.ts";
import { describeParts } from "./harness.ts";
import { API_KEY, FUNCTIONS_ONLY_KEY, READ_ONLY_KEY, createExampleService } from "./exampleService.ts";

const service = createExampleService();
let server: HttpServer;
beforeAll(async () => {
  server = await startHttp({
    service,
    schemas: createLiveSchemas(service),
    ...(await describeParts({ anonymousRateLimit: 1000, closeGraceMs: 0 })),
    log: pino({ level: "silent" }),
  });
});
afterAll(() => server.close());

test("the table holds at least 60 inputs, each named once", () => {
  expect(BAD_INPUTS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(BAD_INPUTS.map(({ what }) => what)).size).toBe(BAD_INPUTS.length);
});

test.each(BAD_INPUTS.map((input) => [input.what, input] as const))("%s", async (_what, input) => {
  const reply = await sendBadInput(server.url, input, {
    good: API_KEY,
    functionsOnly: FUNCTIONS_ONLY_KEY,
    readOnly: READ_ONLY_KEY,
  });
  const { data, ...rest } = (await reply.json()) as {
    data: { success: boolean; err: string; code: string; details?: { path: string }[] };
  };
  expect(rest).toEqual({});
  expect({ status: reply.status, code: data.code, success: data.success }).toEqual({
    status: input.status,
    code: input.code,
    success: false,
  });
  expect(data.err).toContain(input.says);
  expect(data.details?.map(({ path }) => path)).toEqual(input.paths);
  expect(reply.headers.get("RateLimit")).toMatch(/^"(key|address)";r=\d+;t=\d+$/);
  expect(service.submitted).toEqual([]);
});
