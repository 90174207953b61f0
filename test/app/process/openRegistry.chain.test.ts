import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { openRegistry } from "../../../src/app/process/openRegistry.ts";
import { makeFolder, writePreset } from "../../presets/folders.ts";
import { runHere } from "../../presets/runHere.ts";

test("says in the log when a preset that was broken is served again", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", { definition: "{" });
  const lines: unknown[] = [];
  const registry = await openRegistry({
    pluginsDir: folder,
    pool: { run: runHere as never },
    networks: [],
    log: pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  });
  onTestFinished(() => registry.close());
  await writePreset(folder, "echo", {});
  await expect
    .poll(() => lines.at(-1), { timeout: 60_000 })
    .toMatchObject({ level: 40, preset: "echo", msg: "preset served again" });
  expect(lines[0]).toMatchObject({ msg: "preset not served" });
});
