import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { CALL_GAS } from "../../src/chainlink/callGas.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");
const page = read("docs/operations.md").replaceAll(/\s+/g, " ");

test("the log lines that the page quotes are those that the code writes", () => {
  const quoted = [...page.matchAll(/\blines?(?: with)? `([^`]+)`/g)].map(([, line]) => line!);
  expect(quoted.length).toBeGreaterThan(2);
  const source = globSync("{src,sandbox/host}/**/*.ts", { cwd: ROOT }).map(read).join("\n");
  expect(quoted.filter((line) => !source.includes(`"${line}"`))).toEqual([]);
});

/** What the page says, with `#` for the number; the file and the constant that decide it; how many of its units make one of the page's. */
const NUMBERS: readonly (readonly [text: string, file: string, constant: string, unit?: number])[] = [
  ["makes at most # calls in a burst", "src/explorer/sparedNode.ts", "BURST"],
  ["in a burst, then # a second", "src/explorer/sparedNode.ts", "CALLS_PER_SECOND"],
  ["what is in flight, within # seconds", "src/cli/stopOnSignals.ts", "STOP_LIMIT_MS", 1_000],
  ["The lease lasts # seconds", "src/store/leaseKeeper.ts", "LASTS_MS", 1_000],
  ["was accepted, from 1 to #", "src/config/keepSchema.ts", "MAX_DAYS"],
  ["those of the newest # nonces", "src/requests/keep/retention.ts", "KEPT_NONCES"],
  ["Deletion runs once a minute, # rows at a time", "src/requests/keep/retention.ts", "ROWS_AT_ONCE"],
  ["no result within the # seconds", "src/chainlink/stackConfig.ts", "requestTimeoutSeconds"],
  ["it could not be sent in # attempts", "src/requests/dispatch/dispatcher.ts", "MAX_ATTEMPTS"],
  ["A network with # open requests", "src/config/configSchema.ts", "MAX_OPEN_PER_NETWORK"],
  ["for a child process; at #,", "sandbox/host/pool.ts", "options.maxQueue ??"],
  ["by itself, after # s", "sandbox/host/workerSet.ts", "FIRST_RETRY_MS", 1_000],
  ["less and less often to once in # s", "sandbox/host/workerSet.ts", "LONGEST_RETRY_MS", 1_000],
  ["doesn't answer within # s, calls with a key", "src/store/openDatabase.ts", "SILENCE_MS", 1_000],
];

test.each(NUMBERS.map(([text, ...rest]) => ({ text, rest })))(
  "“$text” is what the code does",
  ({ text, rest }) => {
    const [file, constant, unit = 1] = rest;
    const [before, after] = text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).split("#");
    const [, said] = new RegExp(`${before}([0-9.,]*[0-9]|thousand)${after}`).exec(page) ?? [];
    const name = constant.replaceAll(/[.?]/g, String.raw`\$&`);
    const [, done] = new RegExp(`\\b${name}(?::| =|) ([0-9_]+)`).exec(read(file)) ?? [];
    expect(said, "the page says something else").toBeDefined();
    expect(said === "thousand" ? 1_000 : Number(said!.replaceAll(",", ""))).toBe(
      Number(done?.replaceAll("_", "")) / unit,
    );
  },
);

test("what calls cost is their gas at the prices in the table's head", () => {
  const table = read("docs/networks.md").split("### What calls cost")[1]!.split("\n\n")[2]!;
  const [head, , ...rows] = table.split("\n").map((row) => row.split("|").slice(2, -1));
  const names = [...table.matchAll(/^\| (an? [^|]*) \|/gm)].map(([, name]) => name);
  expect(names).toEqual(Object.keys(CALL_GAS));
  for (const [row, gas] of Object.values(CALL_GAS).entries()) {
    const [shown, ...costs] = rows[row]!.map((cell) => Number.parseFloat(cell.replaceAll(/[ $,]/g, "")));
    expect(shown).toBe(Number(gas));
    const prices = head!.slice(1).map((cell) => /([0-9.]+) gwei(?:, \$(\d+(?:\.\d+)?))?/.exec(cell)!);
    const expected = prices.map(
      ([, gwei, dollars = "1"]) => (Number(gas) * Number(gwei) * Number(dollars)) / 1e9,
    );
    expect(costs).toEqual(expected.map((cost) => Number(cost.toPrecision(2))));
  }
});
