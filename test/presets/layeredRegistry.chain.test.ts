import { rm } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLayeredRegistry } from "../../src/presets/layeredRegistry.ts";
import { exampleDefinition, makeFolder, writePreset } from "./folders.ts";

async function openLayers() {
  const [first, second] = [await makeFolder(), await makeFolder()];
  await writePreset(first, "echo", {});
  await writePreset(first, "shared", {});
  await writePreset(second, "shared", {});
  await writePreset(second, "own", {});
  const live: string[] = [];
  const registry = await createLayeredRegistry({
    folders: [first, second],
    onChange: (change) => live.push(change.kind === "live" ? change.preset.name : `-${change.name}`),
  });
  onTestFinished(() => registry.close());
  return { first, second, registry, live };
}

test("presets of both folders are served in one list, which stays the same while nothing changes", async () => {
  const { registry } = await openLayers();
  expect(registry.list().map(({ name }) => name)).toEqual(["echo", "own", "shared"]);
  expect(registry.list()).toBe(registry.list());
  expect(registry.get("own").name).toBe("own");
});

test("the later of two presets of one name is not served, and problems say so", async () => {
  const { registry } = await openLayers();
  expect(registry.problems()).toMatchObject([
    { preset: "shared", reason: expect.stringContaining("rename") },
  ]);
});

test("it is served when the earlier one goes", async () => {
  const { first, registry, live } = await openLayers();
  const hidden = registry.get("shared");
  await rm(path.join(first, "shared"), { recursive: true });
  await expect.poll(() => live).toEqual(["-shared", "shared"]);
  expect(registry.get("shared")).not.toBe(hidden);
  expect(registry.problems()).toEqual([]);
});

test("one that comes later is served", async () => {
  const { second, registry } = await openLayers();
  await writePreset(second, "late", {});
  await expect.poll(() => registry.find("late")?.name).toBe("late");
});

test("a folder that is created later is followed, after it was removed too", async () => {
  const [first, second] = [await makeFolder(), path.join(await makeFolder(), "plugins")];
  await writePreset(first, "echo", {});
  const registry = await createLayeredRegistry({ folders: [first, second] });
  onTestFinished(() => registry.close());
  expect(registry.list().map(({ name }) => name)).toEqual(["echo"]);
  await writePreset(second, "own", {});
  await expect.poll(() => registry.find("own")?.title).toBe("Echo");
  await writePreset(second, "own", { definition: { ...exampleDefinition("own"), title: "Edited" } });
  await expect.poll(() => registry.find("own")?.title).toBe("Edited");
  await rm(second, { recursive: true });
  await expect.poll(() => registry.find("own")).toBeUndefined();
  await writePreset(second, "again", {});
  await expect.poll(() => registry.find("again")?.title).toBe("Echo");
  expect(registry.problems()).toEqual([]);
});

test("the first folder is missing", async () => {
  const folder = path.join(await makeFolder(), "plugins");
  await expect(createLayeredRegistry({ folders: [folder] })).rejects.toThrow(/can't be read \(ENOENT\)/);
});

test("an unknown name is answered with those of both folders", async () => {
  const { registry } = await openLayers();
  expect(() => registry.get("nope")).toThrow(/echo.*own/);
});
