import { mkdtempSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createChildLauncher } from "../../../sandbox/host/launch.ts";
import { createWorker, type Death } from "../../../sandbox/host/worker.ts";
import { DEFAULT_LIMITS } from "../../../sandbox/index.ts";

/**
 * Start of a child's script that writes what it likes: `frame` builds a frame, `write` sends bytes, both after the first run has arrived.
 */
const PRELUDE = `
const { writeSync } = require('node:fs');
const write = (bytes) => { for (let at = 0; at < bytes.length;) try { at += writeSync(1, bytes, at) } catch (e) { if (e.code !== 'EAGAIN') process.exit() } };
const frame = (type, header, body = Buffer.alloc(0), text = typeof header === 'string' ? header : JSON.stringify(header)) => {
  const prefix = Buffer.alloc(9);
  prefix.writeUInt32BE(5 + Buffer.byteLength(text) + body.length, 0);
  prefix.writeUInt8(type, 4);
  prefix.writeUInt32BE(Buffer.byteLength(text), 5);
  return Buffer.concat([prefix, Buffer.from(text), body]);
};
const result = { run: 7, error: null, timeMs: 1, memoryBytes: 1, reusable: true };
process.stdin.on('end', () => process.exit());
write(frame(1, { done: 0 }));
process.stdin.once('data', () => {`;

const folder = mkdtempSync(join(tmpdir(), "tyche-lying-"));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const launcher = createChildLauncher();
let count = 0;

/** Starts such a child, gives it run 7, and returns how the worker ended it. */
async function face(body: string, timeoutMs = 3_000): Promise<{ death: Death; events: string[] }> {
  const script = join(folder, `${count++}.cjs`);
  writeFileSync(script, `${PRELUDE}${body}});`);
  const events: string[] = [];
  return new Promise((resolve) => {
    createWorker(launcher.launch(script), {
      onReady: (worker) => {
        events.push("ready");
        const limits = { ...DEFAULT_LIMITS, timeoutMs };
        const message = { source: "", group: null, inputs: "{}", limits, observe: false, isPure: false };
        if (events.length === 1)
          worker.start([
            { run: 7, ...message },
            { run: 8, ...message },
          ]);
      },
      onMessage: (_worker, message) => events.push(message.type),
      onResult: (_worker, message) => events.push(`result ${message.run}`),
      onDeath: (_worker, death) => resolve({ death, events }),
    });
  });
}

const breaches: readonly (readonly [what: string, body: string])[] = [
  ["a length of 4 GB", "write(Buffer.from([255, 255, 255, 255, 5]))"],
  [
    "a length just above the largest",
    "const b = Buffer.alloc(4); b.writeUInt32BE(5 + 131072 + 4 + 131072 + 30720 + 1 + 1); write(b)",
  ],
  ["a length of zero", "write(Buffer.alloc(64))"],
  ["a header longer than its frame", "const f = frame(5, result); f.writeUInt32BE(60000, 5); write(f)"],
  ["a header that is not JSON", "write(frame(5, '{run:7}'))"],
  ["a header that is not UTF-8", "write(frame(5, result, Buffer.alloc(0), '\\ud800\\u0000{'))"],
  ["a header that is an array", "write(frame(5, '[7]'))"],
  ["a header that is null", "write(frame(5, 'null'))"],
  ["a header that is a number", "write(frame(5, '7'))"],
  ["an unknown type", "write(frame(77, result))"],
  ["type zero", "write(frame(0, result))"],
  ["a result of another run", "write(frame(5, { ...result, run: 9 }))"],
  ["a result of the run behind", "write(frame(5, { ...result, run: 8 }))"],
  ["a result without a run", "write(frame(5, { ...result, run: undefined }))"],
  ["a run that is a text", "write(frame(5, { ...result, run: '7' }))"],
  ["a run that is a fraction", "write(frame(5, { ...result, run: 7.5 }))"],
  ["a run that is negative", "write(frame(5, { ...result, run: -7 }))"],
  ["a time that is a text", "write(frame(5, { ...result, timeMs: '1' }))"],
  ["a time below zero", "write(frame(5, { ...result, timeMs: -1 }))"],
  [
    "a time beyond numbers",
    'write(frame(5, \'{"run":7,"error":null,"timeMs":1e999,"memoryBytes":1,"reusable":true}\'))',
  ],
  ["an error that is a text", "write(frame(5, { ...result, error: 'x' }))"],
  ["an error of an unknown kind", "write(frame(5, { ...result, error: { kind: 'root', message: '' } }))"],
  ["an error without a message", "write(frame(5, { ...result, error: { kind: 'thrown' } }))"],
  [
    "an error whose message is an object",
    "write(frame(5, { ...result, error: { kind: 'thrown', message: {} } }))",
  ],
  [
    "an error message of 1 MB",
    "write(frame(5, { ...result, error: { kind: 'thrown', message: 'x'.repeat(1e6) } }))",
  ],
  [
    "a stack of 1 MB",
    "write(frame(5, { ...result, error: { kind: 'thrown', message: '', stack: 'x'.repeat(1e6) } }))",
  ],
  [
    "a line that is a text",
    "write(frame(5, { ...result, error: { kind: 'thrown', message: '', line: '1' } }))",
  ],
  ["ready without a count", "write(frame(1, {}))"],
  ["ready during a run", "write(frame(1, { done: 2 }))"],
  ["ready for more than it was given", "write(frame(1, { done: 3 }))"],
  ["console output of another run", "write(frame(2, { run: 8 }, Buffer.from('x')))"],
  ["console output without a run", "write(frame(2, {}, Buffer.from('x')))"],
  ["a header of more than 128 KB", "write(frame(2, { run: 7, more: 'x'.repeat(131072) }))"],
  [
    "a body of more than a host call may have",
    "write(frame(3, { run: 7, call: 1, name: 'fetch' }, Buffer.alloc(4 + 131072 + 30720 + 2)))",
  ],
  [
    "a header of 60,000 nested lists",
    "write(frame(2, '{\"run\":7,\"more\":' + '['.repeat(60000) + ']'.repeat(60000) + '}'))",
  ],
  ["ready for the second time without a run between", "write(frame(1, { done: 0 }))"],
  [
    "a line that no source has",
    "write(frame(5, { ...result, error: { kind: 'thrown', message: '', line: 0 } }))",
  ],
  ["memory beyond integers", "write(frame(5, { ...result, memoryBytes: 1.5 }))"],
  ["a host call with a name of 1 KB", "write(frame(3, { run: 7, call: 1, name: 'x'.repeat(1024) }))"],
  ["a host call without a number", "write(frame(3, { run: 7, call: null, name: 'fetch' }))"],
  ["garbage", "write(require('crypto').randomBytes(65536).fill(200, 0, 4))"],
  [
    "a third result",
    "write(frame(5, result)); write(frame(5, { ...result, run: 8 })); write(frame(5, { ...result, run: 8 }))",
  ],
];

describe("a child that lies", () => {
  test.each(breaches)("%s ends it", async (_what, body) => {
    const { death, events } = await face(body);
    expect(death).toBe("protocol");
    expect(
      events.filter((event) => event !== "ready" && event !== "result 7" && event !== "result 8"),
    ).toEqual([]);
  });

  test("names like __proto__ in a header reach nothing", async () => {
    const { events } = await face(
      'write(frame(5, \'{"__proto__":{"polluted":1},"run":7,"error":null,"timeMs":1,"memoryBytes":1,"reusable":false}\'))',
    );
    expect(events).toEqual(["ready", "result 7"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("a frame cut into single bytes is read, two in one chunk are too", async () => {
    const { events, death } = await face(
      "for (const byte of frame(5, result)) write(Buffer.from([byte])); write(Buffer.concat([frame(2, { run: 8 }, Buffer.from('x')), frame(5, { ...result, run: 8, reusable: false })]))",
    );
    expect(events).toEqual(["ready", "result 7", "console", "result 8"]);
    expect(death).toBe("not-reusable");
  });

  test.each([
    ["V8's words", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"],
    ["its list of collections alone", "<--- Last few GCs --->"],
    ["a mapping that can't be undone", "Check failed: 0 == munmap(address, size)."],
  ])("death by memory is told behind 20 KB of other lines: %s", async (_what, words) => {
    const { death } = await face(
      `require('node:fs').writeSync(2, 'a line of no interest\\n'.repeat(1000) + ${JSON.stringify(words)}); process.abort()`,
    );
    expect(death).toBe("crash-memory");
  });

  test("an abort that says nothing of memory is a crash", async () => {
    const { death } = await face("require('node:fs').writeSync(2, 'what?\\n'.repeat(1000)); process.abort()");
    expect(death).toBe("crash");
  });

  test("silence ends at the run's time", async () => {
    expect((await face("", 200)).death).toBe("timeout");
  });

  test("half a frame and silence end at the run's time", async () => {
    expect((await face("write(frame(5, result).subarray(0, 20))", 200)).death).toBe("timeout");
  });

  test("a child that does not get ready again is replaced", async () => {
    expect((await face("write(frame(5, result)); write(frame(5, { ...result, run: 8 }))")).death).toBe(
      "crash",
    );
  });

  test("taking the parent's memory by not reading ends with the run", async () => {
    expect((await face("process.stdin.pause(); for (;;) {}", 300)).death).toBe("timeout");
  });
});
