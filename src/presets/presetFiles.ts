import { constants } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { PresetBrokenError } from "./presetProblem.ts";
import { MAX_SOURCE_BYTES } from "../lib/sourceLimit.ts";

/** Largest `preset.json`, in bytes: hundreds of examples fit. */
const MAX_DEFINITION_BYTES = 65_536;
/** The two files of a preset as text. */
export interface PresetFiles {
  readonly definition: string;
  readonly source: string;
}

/**
 * Reads the files of the preset `name` in `folder`. Whoever made the folder is not trusted: links, pipes and devices are not
 * followed or opened, nothing past a file's size limit is read, and anything but UTF-8 is refused. Throws
 * `PresetBrokenError`.
 */
export async function readPresetFiles(folder: string, name: string): Promise<PresetFiles> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await open(path.join(folder, name), flags).catch((error: NodeJS.ErrnoException) => {
    throw broken(name, name, "is not a folder", error);
  });
  // On Linux, files are read relative to the open folder: its name may have become a link elsewhere by the time they are
  // opened.
  const opened = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path.join(folder, name);
  const results = await Promise.allSettled([
    readText(opened, name, { file: "preset.json", maxBytes: MAX_DEFINITION_BYTES }),
    readText(opened, name, { file: "source.js", maxBytes: MAX_SOURCE_BYTES }),
  ]);
  await handle.close();
  const problems = results.flatMap((result) =>
    result.status === "rejected" ? problemsOf(result.reason) : [],
  );
  if (problems.length > 0) throw new PresetBrokenError(problems);
  const [definition, source] = results.map((result) => (result.status === "fulfilled" ? result.value : ""));
  return { definition: definition as string, source: source as string };
}

function problemsOf(error: unknown): PresetBrokenError["details"] {
  if (error instanceof PresetBrokenError) return error.details;
  throw error;
}

async function readText(
  folder: string,
  name: string,
  { file, maxBytes }: { readonly file: string; readonly maxBytes: number },
): Promise<string> {
  const shown = `${name}/${file}`;
  // O_NONBLOCK: otherwise opening a pipe would wait for its writer. O_NOFOLLOW: a link could lead to any file of the host.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path.join(folder, file), flags).catch((error: NodeJS.ErrnoException) => {
    throw broken(name, shown, explainOpen(error), error);
  });
  try {
    if (!(await handle.stat()).isFile()) throw broken(name, shown, "is not a regular file");
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > maxBytes) throw broken(name, shown, `is larger than ${maxBytes} bytes`);
    return decode(buffer.subarray(0, length));
  } catch (error) {
    if (error instanceof PresetBrokenError) throw error;
    throw broken(name, shown, error instanceof TypeError ? "is not UTF-8 text" : "can't be read", error);
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

function explainOpen(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "is missing";
  if (error.code === "ELOOP" || error.code === "EMLINK")
    return "is a symbolic link; only regular files are read";
  return `can't be opened (${error.code ?? "unknown"})`;
}

function broken(preset: string, file: string, reason: string, cause?: unknown): PresetBrokenError {
  return new PresetBrokenError([{ preset, file, reason }], { cause });
}
