/**
 * Is our hex and result decoding the fastest available?
 *
 * Question: `toHexText`, `fromHexText` and `decodeResult` against viem, ethers and plain Buffer, at 32, 64 and 256 bytes, in one run on
 * one machine. All get the same inputs and must return the same results, which is checked once for each. Integers have at most 32 bytes,
 * so only text is decoded at 64 and 256.
 *
 * A task makes 1,000 calls over 16 different inputs, so that neither clock resolution nor a cached answer matters. The rows of a group
 * take turns over several rounds; a row's time is the median of its rounds' medians. Left out: errors, garbage collection beyond what
 * falls into a round, and calls too rare for their code to be optimised.
 *
 * Run: `npm run bench`, with `-- --json` for JSON, `-- --json FILE` for both, `-- --quick` for one short round.
 */
import { randomBytes } from "node:crypto";
import { fromTwos, getBytes, hexlify, toBigInt, toUtf8String } from "ethers";
import { Bench } from "tinybench";
import { bytesToBigInt, bytesToHex, bytesToString, hexToBytes } from "viem";
import { decodeResult } from "../src/domain/decodeResult.ts";
import { fromHexText, toHexText } from "../src/lib/hex.ts";
import { describeMachine, readMachine } from "./support/machine.ts";
import { formatTable, parseReportTarget, writeReport } from "./support/report.ts";
import { median } from "./support/median.ts";

const SIZES = [32, 64, 256] as const;
const INPUTS = 16;
const CALLS = 1_000;
const isQuick = process.argv.includes("--quick");
const ROUNDS = isQuick ? 1 : 7;
const ROUND_MS = isQuick ? 20 : 60;
/** Relative difference between the rounds of one row on a quiet machine; a row this close to the fastest counts as fastest too. */
const NOISE = 0.05;

const IMPLEMENTATIONS = ["tyche", "viem", "ethers", "Buffer"] as const;
type Implementation = (typeof IMPLEMENTATIONS)[number];

interface Group<In = never> {
  readonly operation: string;
  readonly bytes: number;
  readonly inputs: readonly In[];
  readonly run: Readonly<Record<Implementation, (input: In) => string | Uint8Array>>;
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const many = <T>(make: (index: number) => T): T[] =>
  Array.from({ length: INPUTS }, (_, index) => make(index));
const random = (bytes: number): Uint8Array => Uint8Array.from(randomBytes(bytes));
/** Numbers like those of dice and ranges, in 32 bytes. */
const small = (index: number): Uint8Array =>
  fromHexText(`0x${(index * 61 + 1).toString(16).padStart(64, "0")}`);
/** Text like that of lotto and nDice. */
const ascii = (bytes: number): Uint8Array => random(bytes).map((byte) => 0x20 + (byte % 0x5f));

const groups: Group[] = [];
const compare = <In>(group: Group<In>): void => void groups.push(group as unknown as Group);

for (const bytes of SIZES) {
  compare<Uint8Array>({
    operation: "bytes to hex",
    bytes,
    inputs: many(() => random(bytes)),
    run: {
      tyche: toHexText,
      viem: (input) => bytesToHex(input),
      ethers: (input) => hexlify(input),
      Buffer: (input) => `0x${asBuffer(input).toString("hex")}`,
    },
  });
}
for (const bytes of SIZES) {
  compare<`0x${string}`>({
    operation: "hex to bytes",
    bytes,
    inputs: many(() => toHexText(random(bytes))),
    run: {
      tyche: fromHexText,
      viem: (input) => hexToBytes(input),
      ethers: (input) => getBytes(input),
      Buffer: (input) => Buffer.from(input.slice(2), "hex"),
    },
  });
}
for (const bytes of SIZES) {
  compare<Uint8Array>({
    operation: "decode string",
    bytes,
    inputs: many(() => ascii(bytes)),
    run: {
      tyche: (input) => decodeResult(input, "string"),
      viem: (input) => bytesToString(input),
      ethers: (input) => toUtf8String(input),
      Buffer: (input) => asBuffer(input).toString("utf8"),
    },
  });
}
for (const [values, inputs] of [
  ["small", many(small)],
  ["any", many(() => random(32))],
] as const) {
  compare<Uint8Array>({
    operation: `decode uint256, ${values}`,
    bytes: 32,
    inputs,
    run: {
      tyche: (input) => decodeResult(input, "uint256"),
      viem: (input) => String(bytesToBigInt(input)),
      ethers: (input) => String(toBigInt(input)),
      Buffer: (input) => String(BigInt(`0x${asBuffer(input).toString("hex")}`)),
    },
  });
  compare<Uint8Array>({
    operation: `decode int256, ${values}`,
    bytes: 32,
    inputs,
    run: {
      tyche: (input) => decodeResult(input, "int256"),
      viem: (input) => String(bytesToBigInt(input, { signed: true })),
      ethers: (input) => String(fromTwos(toBigInt(input), 256)),
      Buffer: (input) => String(BigInt.asIntN(256, BigInt(`0x${asBuffer(input).toString("hex")}`))),
    },
  });
}

const machine = readMachine();
const results = [];
for (const group of groups) {
  assertEqualResults(group);
  results.push(await measure(group));
}

const slower = results.filter(({ isFastest }) => !isFastest);
writeReport(parseReportTarget(process.argv.slice(2)), {
  text: [
    describeMachine(machine),
    "",
    `Nanoseconds for one call: median of ${ROUNDS} rounds' medians. Last column: how many times longer the best of the others takes.`,
    "",
    formatTable(
      ["operation", "bytes", ...IMPLEMENTATIONS, "best other"],
      results.map(({ operation, bytes, ns, timesBestOther }) => [
        operation,
        String(bytes),
        ...IMPLEMENTATIONS.map((name) => ns[name].toFixed(0)),
        `${timesBestOther.toFixed(2)}×`,
      ]),
    ),
    "",
    slower.length === 0
      ? `Tyche's is the fastest row everywhere, within ${NOISE * 100} %.`
      : `Tyche's is slower than another row by more than ${NOISE * 100} %: ${slower.map(({ operation, bytes }) => `${operation} at ${bytes}`).join(", ")}.`,
  ].join("\n"),
  data: {
    question: "hex and result decoding against viem, ethers and Buffer",
    unit: "ns per call",
    machine,
    rounds: ROUNDS,
    results,
  },
});

/** Measures the rows in turns, each round in a different order, and returns nanoseconds per call for each. */
async function measure({ operation, bytes, inputs, run }: Group) {
  const rounds: Record<Implementation, number[]> = { tyche: [], viem: [], ethers: [], Buffer: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const bench = new Bench({ time: ROUND_MS, warmupTime: ROUND_MS / 3, iterations: 5, warmupIterations: 2 });
    for (let turn = 0; turn < IMPLEMENTATIONS.length; turn += 1) {
      const name = IMPLEMENTATIONS[(turn + round) % IMPLEMENTATIONS.length]!;
      bench.add(name, repeat(run[name], inputs));
    }
    await bench.run();
    for (const { name, result } of bench.tasks) {
      if (!("latency" in result)) throw new Error(`${operation} by ${name} did not finish`);
      rounds[name as Implementation].push((result.latency.p50 * 1e6) / CALLS);
    }
  }
  const ns = Object.fromEntries(IMPLEMENTATIONS.map((name) => [name, median(rounds[name])])) as Record<
    Implementation,
    number
  >;
  const timesBestOther = Math.min(ns.viem, ns.ethers, ns.Buffer) / ns.tyche;
  return { operation, bytes, ns, timesBestOther, isFastest: timesBestOther >= 1 - NOISE };
}

/** Returns one task of `CALLS` calls. It adds up the results' lengths, so that no call can be optimised away. */
function repeat<In>(run: (input: In) => string | Uint8Array, inputs: readonly In[]): () => number {
  return () => {
    let length = 0;
    for (let call = 0; call < CALLS; call += 1) length += run(inputs[call % INPUTS]!).length;
    return length;
  };
}

function assertEqualResults({ operation, bytes, inputs, run }: Group): void {
  for (const input of inputs) {
    const texts = IMPLEMENTATIONS.map((name) => {
      const result = run[name](input);
      return typeof result === "string" ? result : toHexText(result);
    });
    if (new Set(texts).size > 1)
      throw new Error(`${operation} at ${bytes}: the results differ: ${texts.join(", ")}`);
  }
}
