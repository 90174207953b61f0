import { createCipheriv, createHash } from "node:crypto";
import path from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxPool, type SandboxPool } from "../../sandbox/index.ts";
import { decodeResult } from "../../src/domain/decodeResult.ts";
import { toHexText } from "../../src/lib/hex.ts";
import { chiSquarePValue } from "../../src/presets/chiSquare.ts";
import { loadPreset } from "../../src/presets/loadPreset.ts";
import { parsePresetParams } from "../../src/presets/presetParams.ts";

const folder = path.resolve(import.meta.dirname, "../../plugins");
let pool: SandboxPool;
beforeAll(() => {
  pool = createSandboxPool({});
});
afterAll(() => pool.close());

/** Draws like the sources, with OpenSSL's ChaCha20 instead of theirs. */
function createReference(word: Uint8Array): (n: bigint) => bigint {
  const cipher = createCipheriv("chacha20", word, Buffer.alloc(16));
  let pool = BigInt(toHexText(word));
  let size = 2n ** 256n;
  return (n) => {
    for (;;) {
      if (size < n) {
        pool = (pool << 512n) | BigInt(toHexText(cipher.update(Buffer.alloc(64))));
        size <<= 512n;
      }
      const rejectedFrom = (size / n) * n;
      if (pool >= rejectedFrom) [pool, size] = [pool - rejectedFrom, size - rejectedFrom];
      else {
        const drawn = pool % n;
        [pool, size] = [pool / n, size / n];
        return drawn;
      }
    }
  };
}

async function draw(name: string, raw: Record<string, unknown>, word: Uint8Array): Promise<string> {
  const preset = await loadPreset(folder, name);
  const { args } = parsePresetParams(preset, raw);
  const outcome = await pool.run({
    source: preset.source,
    args,
    bytesArgs: [toHexText(word)],
    limits: { maxResponseBytes: 16_384 },
  });
  if (!outcome.ok) throw new Error(outcome.error.message);
  return decodeResult(outcome.bytes, preset.returnType);
}

const wordOf = fc.uint8Array({ minLength: 32, maxLength: 32 });
const settings = { seed: 7, numRuns: 40 };

test("dice are those of the reference, however many blocks they take", async () => {
  const faces = fc.oneof(fc.bigInt(2n, 100n), fc.bigInt(2n, 2n ** 256n - 1n), fc.constant(2n ** 256n - 1n));
  await fc.assert(
    fc.asyncProperty(wordOf, faces, fc.integer({ min: 1, max: 100 }), async (word, numFaces, numDice) => {
      const next = createReference(word);
      const expected = Array.from({ length: numDice }, () => next(numFaces) + 1n);
      const given = await draw("nDice", { numFaces: String(numFaces), numDice }, word);
      expect(given).toBe(`[${expected.join(",")}]`);
    }),
    settings,
  );
});

test("numbers of a range are those of the reference, for spans that reject often too", async () => {
  const spans = fc.oneof(
    fc.bigInt(1n, 1_000n),
    fc.bigInt(2n ** 255n, 2n ** 256n),
    fc.constant(3n * 2n ** 254n),
    fc.constant(2n ** 255n + 1n),
  );
  await fc.assert(
    fc.asyncProperty(wordOf, spans, async (word, span) => {
      const min = -(2n ** 255n);
      const given = await draw("range", { min: String(min), max: String(min + span - 1n) }, word);
      expect(given).toBe(String(min + createReference(word)(span)));
    }),
    settings,
  );
});

test("winners are those of a Fisher-Yates shuffle by the reference", async () => {
  const lists = fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { minLength: 1, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(wordOf, lists, fc.nat(), async (word, list, any) => {
      const numberOfWinners = 1 + (any % list.length);
      const next = createReference(word);
      const shuffled = [...list];
      for (let i = 0; i < numberOfWinners; i += 1) {
        const j = i + Number(next(BigInt(list.length - i)));
        [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
      }
      const given = await draw("lotto", { list, numberOfWinners }, word);
      expect(given).toBe(`Winners: ${shuffled.slice(0, numberOfWinners).join(", ")}`);
    }),
    settings,
  );
});

// The first 98 six-sided dice use up the word; one or two blocks of the key stream supply the others.
test("dice before and after the word is used up are uniform and independent", () => {
  const ROLLS = 4_000;
  const faces = 6;
  const pairs = Array.from({ length: faces * faces }, () => 0);
  const lateFaces = Array.from({ length: faces }, () => 0);
  for (let roll = 0; roll < ROLLS; roll += 1) {
    // Uniform words: a property test's are not, as extremes are too frequent.
    const next = createReference(createHash("sha256").update(`roll ${roll}`).digest());
    const rolls = Array.from({ length: 200 }, () => Number(next(BigInt(faces))));
    for (let i = 96; i < 104; i += 2) {
      const pair = rolls[i]! * faces + rolls[i + 1]!;
      pairs[pair] = pairs[pair]! + 1;
    }
    // A die from the word and one from the key stream: if they are independent, their difference is uniform.
    const difference = (rolls[150]! - rolls[3]! + faces) % faces;
    lateFaces[difference] = lateFaces[difference]! + 1;
  }
  const equal = (counts: readonly number[]): number =>
    chiSquarePValue(
      counts,
      counts.map(() => 1),
    );
  expect(equal(pairs)).toBeGreaterThan(1e-8);
  expect(equal(lateFaces)).toBeGreaterThan(1e-8);
});
