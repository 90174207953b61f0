import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDataDir, removeDataDir, startTycheProcess } from "../support/tyche.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = makeDataDir();
});
afterEach(() => {
  removeDataDir(dataDir);
});

test("a service that npx has started stops in order when npx gets a SIGTERM, which it doesn't hand on", async () => {
  const tyche = await startTycheProcess({
    dataDir,
    networks: ["fuji"],
    env: { npm_command: "exec" },
    // As npx does; a second command keeps the shell from becoming the first.
    under: ["sh", "-c", '"$@"; exit', "sh"],
  });
  await tyche.stop("SIGTERM");
  expect(tyche.output()).toMatch(/SIGTERM: finishing what is in flight[^]*stopped after/);
});
