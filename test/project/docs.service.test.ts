import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTycheProcess, type TycheProcess } from "../support/tyche.ts";
import { makeReaderFolder, readerEnvironment } from "./support/readerFolder.ts";
import { findBlocks, findMismatch, matchesText, readSteps, type Commands } from "./support/pages.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGES = ["README.md", ...globSync("docs/*.md", { cwd: ROOT })];
const steps = new Map(
  PAGES.map((page) => [page, readSteps(page, readFileSync(path.join(ROOT, page), "utf8"))]),
);

/** Separates the outputs of a page's commands. */
const MARK = "\u001e";

let folder: string;
let tyche: TycheProcess;
let exported: string;
beforeAll(async () => {
  folder = makeReaderFolder();
  // What the guide to prices has its readers do.
  const env = { TYCHE_ALLOW_HOSTS: "localhost" };
  tyche = await startTycheProcess({ cwd: folder, env });
  exported = [...tyche.output().matchAll(/^ *(export .*)$/gm)].map(([, line]) => line).join("\n");
});
afterAll(async () => {
  await tyche?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs blocks of commands one after the other in a shell like a reader's; returns what each printed. */
async function runAll(commands: readonly Commands[]): Promise<string[]> {
  const script = [
    "set -eu -o pipefail",
    "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
    exported,
    ...commands.map(
      ({ block }) => `${block.text}\nprintf '${MARK}'; printf '${block.page}:${block.line} done\\n' >&2`,
    ),
  ].join("\n");
  const env = {
    ...readerEnvironment(folder),
    TYCHE_DATA_DIR: tyche.dataDir,
  };
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: folder, env }).catch(
    (error: Error & { stdout: string }) => {
      // What a command says of its failure may be on either stream.
      throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
    },
  );
  return stdout.split(MARK).slice(0, -1);
}

test("no page hides with && that a command failed, which ends no script", () => {
  const commands = [...steps.values()]
    .flat()
    .flatMap((step) => ("commands" in step ? [step.commands.block] : []));
  expect(commands.filter(({ text }) => text.includes("&&"))).toEqual([]);
});

test.concurrent.each([...steps].filter(([, found]) => found.length > 0).map(([page]) => page))(
  "the commands of %s run as they stand there, and print what it shows",
  { timeout: 300_000 },
  async (page) => {
    const found = steps.get(page)!;
    const commands = found.flatMap((step) => {
      if ("commands" in step) return [step.commands];
      const { info, text } = step.file;
      const file = path.join(folder, info);
      // A reader writes a preset over the one that the page had the command create.
      const write = `mkdir -p "${path.dirname(file)}"\ncat > "${file}" <<'END OF FILE'\n${text}END OF FILE\n`;
      return [{ block: { ...step.file, text: write } }];
    });
    const printed = await runAll(commands);
    for (const [i, { block, expected }] of commands.entries()) {
      if (expected === undefined) continue;
      const shown = expected.text.replaceAll("http://127.0.0.1:3000", tyche.url);
      const output = printed[i]!;
      const mismatch =
        expected.language === "json"
          ? findMismatch(JSON.parse(shown), JSON.parse(output))
          : matchesText(shown.trim(), output.trim())
            ? undefined
            : output;
      expect(mismatch, `${page}:${block.line}`).toBeUndefined();
    }
  },
);

test("what is not run says who runs it", () => {
  const blocks = PAGES.flatMap((page) => findBlocks(page, readFileSync(path.join(ROOT, page), "utf8")));
  const skipped = blocks
    .filter(({ info }) => info.startsWith("skip:"))
    .map(({ info }) => info.slice("skip: ".length));
  const reasons = new Set(skipped.filter((reason) => !existsSync(path.join(ROOT, reason))));
  expect([...reasons]).toEqual([
    "CI runs both on a fresh clone",
    "needs systemd",
    "needs a cluster",
    "needs a registry of packages",
    "needs the id of a dapp, and a person who accepts",
    "needs an earlier checkout",
  ]);
  const languages = new Set(blocks.map(({ language }) => language));
  expect([...languages].toSorted()).toEqual(
    ["go", "js", "json", "python", "sh", "sol", "text", "toml", "ts", "yaml"].filter((one) =>
      languages.has(one),
    ),
  );
});

test("an answer of another form is found", () => {
  expect(findMismatch({ a: "0x12…", b: ["4…"] }, { a: "0xff", b: ["789"] })).toBeUndefined();
  expect(findMismatch({ a: "0x12…" }, { a: "none" })).toContain("$.a");
  expect(findMismatch({ a: 1 }, { a: 1, b: 2 })).toContain("$.b");
  expect(findMismatch({ a: [1] }, { a: [] })).toContain("$.a");
  expect(findMismatch({ value: true }, { value: false })).toBeUndefined();
  expect(findMismatch({ value: true }, { value: null })).toContain("$.value");
  expect(findMismatch({ success: true }, { success: false })).toContain("$.success");
});
