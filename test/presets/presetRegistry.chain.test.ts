import { mkdirSync, writeFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  createPresetRegistry,
  type PresetChange,
  type PresetRegistry,
} from "../../src/presets/presetRegistry.ts";
import { EXAMPLE_SOURCE, exampleDefinition, makeFolder, writePreset } from "./folders.ts";
import { runHere } from "./runHere.ts";

interface Followed {
  readonly registry: PresetRegistry;
  readonly changes: PresetChange[];
  /** Waits for a change that satisfies the predicate. */
  readonly next: (isWanted: (change: PresetChange) => boolean) => Promise<PresetChange>;
}

async function follow(folder: string): Promise<Followed> {
  const changes: PresetChange[] = [];
  const registry = await createPresetRegistry({
    folder,
    run: runHere,
    onChange: (change) => changes.push(change),
  });
  onTestFinished(() => registry.close());
  return {
    registry,
    changes,
    async next(isWanted) {
      for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(10)) {
        const found = changes.find(isWanted);
        if (found !== undefined) return found;
      }
      throw new Error(`no such change; there were ${JSON.stringify(changes)}`);
    },
  };
}

test("lists the presets by name and finds them", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "b", {});
  await writePreset(folder, "a", {});
  await writeFile(path.join(folder, "README.md"), "not a preset");
  const { registry } = await follow(folder);
  expect(registry.list().map(({ name }) => name)).toEqual(["a", "b"]);
  expect(registry.list()).toBe(registry.list());
  expect(registry.find("a")?.title).toBe("Echo");
  expect(registry.find("constructor")).toBeUndefined();
  expect(registry.problems()).toEqual([]);
});

test("a folder that is dropped in is live by itself", async () => {
  const folder = await makeFolder();
  const { registry, next } = await follow(folder);
  await writePreset(folder, "fresh", {});
  await next((change) => change.kind === "live" && change.preset.name === "fresh");
  expect(registry.get("fresh").name).toBe("fresh");
  expect(registry.problems()).toEqual([]);
});

test("an edited source is read again", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const { registry, next } = await follow(folder);
  const before = registry.get("echo").sourceHash;
  await writeFile(path.join(folder, "echo", "source.js"), `${EXAMPLE_SOURCE};0`.replace("const", "let"));
  await next((change) => change.kind === "live");
  expect(registry.get("echo").sourceHash).not.toBe(before);
});

test("a comment that changes nothing is no change", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const { registry, changes, next } = await follow(folder);
  const before = registry.get("echo");
  await writeFile(path.join(folder, "echo", "source.js"), `// more\n${EXAMPLE_SOURCE}`);
  // Once a later change is reported, the earlier one has been seen.
  await writePreset(folder, "later", {});
  await next((change) => change.kind === "live" && change.preset.name === "later");
  expect(registry.get("echo")).toBe(before);
  expect(changes).toHaveLength(1);
});

test("a preset that breaks stops being served with file, line and reason, harms no other, and comes back", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  await writePreset(folder, "other", {});
  const { registry, changes, next } = await follow(folder);
  const other = registry.get("other");
  await writeFile(path.join(folder, "echo", "source.js"), "const a = 1;\nreturn (;\n");
  await next((change) => change.kind === "broken");
  expect(registry.problems()).toEqual([
    { preset: "echo", file: "echo/source.js", line: 2, column: 9, reason: 'Unexpected ";"' },
  ]);
  expect(() => registry.get("echo")).toThrow(
    `can't be served until its folder is repaired (echo/source.js:2:9: Unexpected ";"); there are other`,
  );
  expect(() => registry.get("echo")).toThrow(expect.objectContaining({ precludesOthers: true }) as Error);
  expect(() => registry.get("echoo")).toThrow(expect.objectContaining({ precludesOthers: false }) as Error);
  expect(registry.get("other")).toBe(other);
  changes.length = 0;
  await writeFile(path.join(folder, "echo", "source.js"), EXAMPLE_SOURCE);
  await next((change) => change.kind === "live");
  expect(registry.problems()).toEqual([]);
});

test("an example that no longer holds breaks a preset", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const { registry, next } = await follow(folder);
  await writeFile(path.join(folder, "echo", "source.js"), "return Functions.encodeString('x')");
  await next((change) => change.kind === "broken");
  expect(registry.problems()).toMatchObject([
    { file: "echo/preset.json", reason: 'example 1: gives "x", not "aa"' },
  ]);
});

test("a removed folder is told and no longer served", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const { registry, next } = await follow(folder);
  await rm(path.join(folder, "echo"), { recursive: true });
  expect(await next((change) => change.kind === "removed")).toEqual({ kind: "removed", name: "echo" });
  expect(registry.list()).toEqual([]);
});

test("a folder that is broken from the start is a problem, not a failure", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "good", {});
  await writePreset(folder, "bad", { definition: { ...exampleDefinition("bad"), name: "worse" } });
  const { registry } = await follow(folder);
  expect(registry.list().map(({ name }) => name)).toEqual(["good"]);
  expect(registry.problems()).toHaveLength(1);
});

test("closes with its signal, twice without harm, and tells no changes after", async () => {
  const folder = await makeFolder();
  const controller = new AbortController();
  const changes: PresetChange[] = [];
  const options = {
    folder,
    signal: controller.signal,
    onChange: (change: PresetChange) => void changes.push(change),
  };
  const registry = await createPresetRegistry(options);
  controller.abort();
  await registry.close();
  const { next } = await follow(folder);
  await writePreset(folder, "late", {});
  await next((change) => change.kind === "live" && change.preset.name === "late");
  expect(changes).toEqual([]);
});

test("a folder that isn't there", async () => {
  await expect(createPresetRegistry({ folder: "/nonexistent/presets" })).rejects.toMatchObject({
    code: "preset_folder_unreadable",
  });
});

test("an unknown preset lists those that there are", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  const { registry } = await follow(folder);
  expect(() => registry.get("nope")).toThrow('preset: "nope" is not a preset; there are echo');
});

test("presets and parameters with the names of an object's own members are refused, and harm no other", async () => {
  const folder = await makeFolder();
  const names = ["constructor", "hasOwnProperty", "toString", "valueOf"];
  for (const name of [...names, "echo"]) await writePreset(folder, name, {});
  await writePreset(folder, "odd", {
    definition: {
      ...exampleDefinition("odd"),
      parameters: { type: "object", properties: { constructor: { type: "string", default: "a" } } },
      args: ["constructor"],
      maxResultBytes: "bytes(constructor)",
    },
  });
  const { registry } = await follow(folder);
  expect(registry.list().map(({ name }) => name)).toEqual(["echo"]);
  const reserved = registry.problems().filter(({ reason }) => reason.endsWith("is a reserved name"));
  expect(new Set(reserved.map(({ preset }) => preset))).toEqual(new Set([...names, "odd"]));
  expect(() => registry.get("__proto__")).toThrow("is not a preset");
  expect(() => registry.get("toString")).toThrow('"toString" is a reserved name');
});

test("10,000 files, and 1,000 broken folders of any name, keep no preset from being served and followed", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "echo", {});
  for (let i = 0; i < 10_000; i += 1) writeFileSync(path.join(folder, "echo", `file${i}`), "");
  for (let i = 0; i < 1_000; i += 1) mkdirSync(path.join(folder, `z\u001B[31m\u202E${i}`));
  const { registry, next } = await follow(folder);
  expect(registry.list().map(({ name }) => name)).toEqual(["echo"]);
  expect(registry.problems()).toHaveLength(500);
  expect(registry.problems()[0]).toMatchObject({
    file: ".",
    reason: "holds 1001 folders; 500 are read",
  });
  await writeFile(path.join(folder, "echo", "source.js"), `${EXAMPLE_SOURCE};0`.replace("const", "let"));
  await next((change) => change.kind === "live" && change.preset.name === "echo");
});

test("after an example that takes all of its time the others are not run", async () => {
  const folder = await makeFolder();
  const example = exampleDefinition("slow")["examples"] as readonly object[];
  await writePreset(folder, "slow", {
    definition: { ...exampleDefinition("slow"), examples: Array.from({ length: 20 }, () => example[0]) },
  });
  let runs = 0;
  const registry = await createPresetRegistry({
    folder,
    run: async () => {
      runs += 1;
      return { ok: false, error: { kind: "timeout", message: "took too long" } };
    },
  });
  onTestFinished(() => registry.close());
  expect(runs).toBe(4);
  expect(registry.problems()).toHaveLength(4);
});

test("a preset that is checked for long holds no start up, and goes live when it is done", async () => {
  const folder = await makeFolder();
  await writePreset(folder, "a", {});
  await writePreset(folder, "b", {});
  const done = Promise.withResolvers<void>();
  const changes: PresetChange[] = [];
  const registry = await createPresetRegistry({
    folder,
    startPatienceMs: 1,
    run: async (request) => {
      await done.promise;
      return runHere(request);
    },
    onChange: (change) => changes.push(change),
  });
  onTestFinished(() => registry.close());
  expect(registry.list()).toEqual([]);
  expect(() => registry.get("b")).toThrow(expect.objectContaining({ code: "overloaded", retryable: true }));
  expect(() => registry.get("c")).toThrow(expect.objectContaining({ code: "invalid_parameter" }));
  done.resolve();
  await expect.poll(() => registry.list().map(({ name }) => name)).toEqual(["a", "b"]);
  expect(changes.map(({ kind }) => kind)).toEqual(["live", "live"]);
  expect(registry.get("b").name).toBe("b");
});
