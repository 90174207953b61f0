import { readdirSync } from "node:fs";
import path from "node:path";
import { parse, type Identifier, type Program } from "acorn";
import { analyze } from "eslint-scope";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isPureSource } from "../../../sandbox/host/purity/isPureSource.ts";
import { resolve, type Bindings } from "../../../sandbox/host/purity/scopes.ts";
import { createSandboxPool, type RunRequest, type SandboxPool } from "../../../sandbox/index.ts";
import { toHexText } from "../../../src/lib/hex.ts";
import { loadPreset } from "../../../src/presets/loadPreset.ts";
import { IMPURE_SOURCES, PURE_SOURCES } from "./impureSources.ts";

const FOLDER = path.resolve(import.meta.dirname, "../../../plugins");
const presets = readdirSync(FOLDER);
/** Number of argument sets for each source. */
const DRAWS = 60;

let pool: SandboxPool;
beforeAll(() => {
  pool = createSandboxPool();
});
afterAll(() => pool.close());

const loadSource = async (name: string): Promise<string> => (await loadPreset(FOLDER, name)).source;

const parseInteger = (value: string | undefined): bigint | undefined => {
  try {
    return value === undefined ? undefined : BigInt(value);
  } catch {
    return undefined;
  }
};

/** Whether a preset terminates with these arguments: some draw forever from an empty range, or roll a huge number of dice. */
function isQuick(name: string, [first, second]: readonly string[] = []): boolean {
  const [a, b] = [parseInteger(first), parseInteger(second)];
  if (a === undefined || b === undefined) return true;
  return name === "range" ? a <= b + 1n : name !== "nDice" || (a > 0n && b <= 300n);
}

/** Returns everything in a run's outcome that must not depend on where it ran. */
async function outcomeOf(request: RunRequest): Promise<unknown> {
  return { ...(await pool.run(request)), timeMs: 0, memoryBytes: 0 };
}

/** Texts that parse as what a preset expects, or as something else. */
const text = fc.oneof(
  fc.constantFrom(
    ..."0 1 2 6 20 100 -1 -0 1.5 1e2 0x10 NaN null true constructor __proto__ length toString then 0n".split(
      " ",
    ),
    "",
    " 7 ",
    "\u0000",
    "\ud800",
    "9".repeat(90),
    `-${"8".repeat(77)}`,
  ),
  fc.bigInt({ min: -(2n ** 20n), max: 2n ** 256n }).map(String),
);
const list = fc.oneof(
  fc.constantFrom(
    '["a","b","c"]',
    "[]",
    '"abc"',
    "5",
    "null",
    '{"length":2}',
    '{"length":"constructor","0":1}',
    '{"length":2,"slice":1,"map":null}',
    '[["__proto__"],{"constructor":1}]',
    "[1,2",
    '{"__proto__":{"slice":1},"length":3}',
  ),
  fc.array(fc.string(), { maxLength: 12 }).map((items) => JSON.stringify(items)),
);
const word = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHexText),
  fc.constantFrom("0x", "0x0", `0x${"0".repeat(64)}`, `0x${"f".repeat(64)}`),
);
const inputs: fc.Arbitrary<Pick<RunRequest, "args" | "bytesArgs">> = fc.record(
  {
    args: fc.oneof(
      fc.array(text, { maxLength: 3 }),
      fc.tuple(text, list),
      fc.tuple(text, fc.constantFrom("0", "3", "x")),
    ),
    bytesArgs: fc.array(word, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

describe.each([...presets.map((name) => ["preset", name] as const), ["table", "pure sources"] as const])(
  "%s %s",
  (kind, name) => {
    test("runs in one context come to what runs in contexts of their own come to", async () => {
      const sources = kind === "preset" ? [await loadSource(name)] : PURE_SOURCES;
      for (const source of sources) {
        expect([source, isPureSource(source)]).toEqual([source, true]);
        const draws = fc
          .sample(inputs, { seed: 7, numRuns: kind === "preset" ? DRAWS : 8 })
          .filter(({ args }) => isQuick(name, args));
        const outcomes = (more: Partial<RunRequest>) =>
          Promise.all(
            draws.map((draw) =>
              outcomeOf({
                ...draw,
                source,
                limits: { maxResponseBytes: 300 },
                caller: "c",
                group: "g",
                ...more,
              }),
            ),
          );
        const [own, shared] = await Promise.all([outcomes({}), outcomes({ sharesContext: true })]);
        expect(shared).toEqual(own);
      }
    });
  },
);

test.each(Object.entries(IMPURE_SOURCES))("is not pure: %s", (_what, source) => {
  expect(isPureSource(source)).toBe(false);
});

test("an impure source has a context of its own, whoever asks to share it", async () => {
  const source = `const seen = [globalThis.count, Array.prototype.count, Functions.count].join();
globalThis.count = Array.prototype.count = Functions.count = 1;
return Functions.encodeString(seen)`;
  for (let count = 0; count < 3; count++) {
    const result = await pool.run({ source, sharesContext: true, group: "one" });
    expect(result.ok && Buffer.from(result.bytes).toString()).toBe(",,");
  }
});

test("a pure source's context is used again", async () => {
  const source = await loadSource("nDice");
  const used: number[] = [];
  for (let count = 0; count < 12; count++) {
    const run = {
      source,
      args: ["6", "2"],
      bytesArgs: [`0x${"5a".repeat(32)}` as const],
      sharesContext: true,
    };
    used.push((await pool.run(run)).memoryBytes);
  }
  const grown = used.slice(1).map((bytes, at) => bytes - (used[at] as number));
  // A context takes over 200,000 bytes, which only a garbage collection releases.
  expect(grown.filter((bytes) => bytes < 100_000).length).toBeGreaterThan(grown.length / 2);
});

test("a run in a shared context has its time and its memory, and harms no later one", async () => {
  const limits = { timeoutMs: 300, memoryLimitMb: 16 };
  const spin = "for (;;) { if (args[0] === 'end') return Functions.encodeUint256(1) }";
  const fill =
    "const kept = []; for (;;) { kept.push(args[0].repeat(9999).split('')); if (args[0] === 'end') return Functions.encodeUint256(1) }";
  for (const [source, kind] of [
    [spin, "timeout"],
    [fill, "memory"],
  ] as const) {
    expect(isPureSource(source)).toBe(true);
    const run = (arg: string, timeoutMs: number) =>
      pool.run({ source, args: [arg], limits: { ...limits, timeoutMs }, sharesContext: true });
    expect(await run("end", 60_000)).toMatchObject({ ok: true });
    expect(await run("go on", kind === "timeout" ? 300 : 60_000)).toMatchObject({
      ok: false,
      error: { kind },
    });
    expect(await run("end", 60_000)).toMatchObject({ ok: true });
  }
});

test("no group can be named that is the pure sources'", async () => {
  await expect(pool.run({ source: "", group: "\0pure" })).rejects.toMatchObject({ code: "invalid_run" });
});

test("no global name is taken for one that the source declares", () => {
  const differing: unknown[] = [];
  for (const source of [...PURE_SOURCES, ...Object.values(IMPURE_SOURCES)]) {
    let program: Program;
    let bindings: Bindings;
    try {
      program = parse(`async () => {\n${source}\n}`, {
        ecmaVersion: "latest",
        sourceType: "module",
        ranges: true,
      });
      bindings = resolve(program);
    } catch {
      // Not JavaScript, or impure by its syntax alone.
      continue;
    }
    const { scopes } = analyze(program as Parameters<typeof analyze>[0], {
      ecmaVersion: 2022,
      sourceType: "module",
    });
    for (const { identifier, resolved } of scopes.flatMap(({ references }) => references))
      if (resolved === null && bindings.has(identifier as Identifier))
        differing.push([source, identifier.name]);
  }
  expect(differing).toEqual([]);
});
