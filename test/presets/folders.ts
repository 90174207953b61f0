import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Creates an empty folder for presets, which is removed when the test ends. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "tyche-presets-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a preset, of a new one all at once and of another file by file; a string is written unchanged, an object as JSON. */
export async function writePreset(
  folder: string,
  name: string,
  files: { readonly definition?: unknown; readonly source?: string },
): Promise<void> {
  const draft = await mkdtemp(path.join(tmpdir(), "tyche-draft-"));
  const { definition = exampleDefinition(name), source = EXAMPLE_SOURCE } = files;
  const text = typeof definition === "string" ? definition : JSON.stringify(definition, null, 2);
  await writeFile(path.join(draft, "preset.json"), text);
  await writeFile(path.join(draft, "source.js"), source);
  const place = path.join(folder, name);
  if (!existsSync(place)) {
    await mkdir(folder, { recursive: true });
    return await rename(draft, place);
  }
  for (const file of ["preset.json", "source.js"])
    await rename(path.join(draft, file), path.join(place, file));
  await rm(draft, { recursive: true });
}

export const ZERO_WORD = `0x${"0".repeat(64)}`;

/** Repeats `text` `times` times. */
export const EXAMPLE_SOURCE = `// says something
const [text, times] = args;
return Functions.encodeString(text.repeat(Number(times)));
`;

export function exampleDefinition(name: string): Record<string, unknown> {
  return {
    name,
    title: "Echo",
    description: "Repeats a text.",
    parameters: {
      type: "object",
      properties: {
        text: { type: "string", maxLength: 100, default: "a" },
        times: { decimal: { minimum: "1", maximum: "1000" }, default: "2" },
      },
    },
    args: ["text", "times"],
    returnType: "string",
    maxResultBytes: "bytes(text) * times",
    examples: [{ params: {}, word: ZERO_WORD, parsedResult: "aa" }],
  };
}
