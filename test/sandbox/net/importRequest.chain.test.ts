import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxNetwork, createSandboxPool, type SandboxPool } from "../../../sandbox/index.ts";
import { parseImportRequest, refusalOfImport } from "../../../sandbox/host/net/importRequest.ts";

const network = createSandboxNetwork({ allowModules: ["npm:ms"] });
let pool: SandboxPool;
beforeAll(async () => {
  pool = createSandboxPool({ concurrency: 1, hostCalls: network.hostCalls });
  await pool.ready();
});
afterAll(async () => {
  await pool.close();
  network.close();
});

test("a source that asks for a version of 60,000 characters is refused without reading it", async () => {
  const began = process.cpuUsage();
  const result = await pool.run({
    source:
      "return await import('npm:a@' + Array.from({ length: 12e3 }, (_, i) => i).join('||').slice(0, 6e4))",
  });
  expect(result).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("the specifier has 60006 characters, at most 1024 are taken") },
  });
  // Reading it would take 3.5 s of the service's only thread.
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(1_000);
});

test("what is too long is refused; a data URL only where it holds no module", () => {
  expect(refusalOfImport({ specifier: "x".repeat(1_024), type: "" })).toBeNull();
  expect(refusalOfImport({ specifier: "x".repeat(1_025), type: "" })).toContain("at most 1024");
  expect(refusalOfImport({ specifier: `data:,${"x".repeat(1_025)}`, type: "" })).toBe(
    "Expected a JavaScript or TypeScript module in a data: URL.",
  );
  expect(refusalOfImport({ specifier: "x", type: "y".repeat(65) })).toContain("is unsupported");
});

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["null", "null"],
  ["no specifier", '{"type":""}'],
  ["a type that is no text", '{"specifier":"x","type":1}'],
  ["lists in each other", `{"specifier":"x","type":"","more":[[]]}`],
  ["7 KB", JSON.stringify({ specifier: "x".repeat(7_000), type: "" })],
])("%s is no request", (_what, message) => {
  expect(() => parseImportRequest(Buffer.from(message))).toThrow("malformed host call");
});
