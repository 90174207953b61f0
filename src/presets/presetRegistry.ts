import type { PresetProblem } from "../api/types.ts";
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FSWatcher, watch } from "chokidar";
import { messageOf, TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { checkExamples } from "./checkPreset.ts";
import { describeValue } from "../lib/describeValue.ts";
import { loadPreset } from "./loadPreset.ts";
import type { Preset, RunSource } from "./preset.ts";
import { formatPresetProblem, PresetBrokenError } from "./presetProblem.ts";

/** Debounce, in ms, for a burst of changes such as copying a folder: a new preset must be live within a second. */
const SETTLE_MS = 100;
/** Most folders that are read, and presets that are known. */
const MAX_PRESETS = 500;
/** How long startup waits for all presets, in ms; those whose examples take longer go live when they are done. */
const START_PATIENCE_MS = 10_000;
/** The files followed within a preset's folder, so that a folder of thousands of files doesn't take a watch for each. */
const FOLLOWED_FILES: readonly string[] = ["preset.json", "source.js"];

export interface PresetRegistryOptions {
  /** Path of the folder that holds one folder for each preset. */
  readonly folder: string;
  /** Whether the folder may be created later; until then it holds no presets. Default false: an unreadable folder is an error. */
  readonly mayBeMissing?: boolean;
  /** Runs the examples before a preset goes live. Without it, presets go live unchecked. */
  readonly run?: RunSource;
  /** How long creation waits for all presets, in ms. Default 10,000. */
  readonly startPatienceMs?: number;
  /** Called for each change after the registry was created. Must not throw. */
  readonly onChange?: (change: PresetChange) => void;
  /** Closes the registry when it aborts. */
  readonly signal?: AbortSignal;
}

/** What happened to one preset. */
export type PresetChange =
  | { readonly kind: "live"; readonly preset: Preset }
  /** Was live or broken; its folder is gone. */
  | { readonly kind: "removed"; readonly name: string }
  /** No longer served, if it was. */
  | { readonly kind: "broken"; readonly name: string; readonly problems: readonly PresetProblem[] };

/** The presets in a folder, kept up to date as the folder changes. */
export interface PresetRegistry {
  /** The live presets by name. Returns the same array until a preset is added, changes or is removed. */
  list(): readonly Preset[];
  find(name: string): Preset | undefined;
  /** Throws {@link UnknownPresetError}, which names the available presets, or {@link UncheckedPresetError}. */
  get(name: string): Preset;
  /** Whether a preset has not been read since the start, so that nobody knows yet whether it can be served. */
  isUnchecked(name: string): boolean;
  /** The problems that keep other folders from being served. */
  problems(): readonly PresetProblem[];
  /** Stops following the folder; idempotent. */
  close(): Promise<void>;
}

/**
 * Reads every preset in a folder and follows changes: a new folder is live within a second, an edited one is read again. A folder that
 * breaks or is removed stops being served and affects no other: serving a preset that is gone would hide the mistake, and requests in
 * flight keep the preset they started with. Resolves when all were read, or after 10 s, so that slow examples don't hold up startup.
 * Throws {@link PresetFolderError} if the folder itself can't be read, or is missing and may not be.
 */
export async function createPresetRegistry(options: PresetRegistryOptions): Promise<PresetRegistry> {
  const registry = new FolderRegistry(options);
  await registry.start();
  return registry;
}

class FolderRegistry implements PresetRegistry {
  readonly #options: PresetRegistryOptions;
  readonly #live = new Map<string, Preset>();
  readonly #broken = new Map<string, readonly PresetProblem[]>();
  readonly #changed = new Set<string>();
  readonly #unchecked = new Set<string>();
  #folderProblem: PresetProblem | undefined;
  #list: readonly Preset[] = [];
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();
  #isStarted = false;
  #isClosed = false;

  constructor(options: PresetRegistryOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { folder, mayBeMissing = false, signal, startPatienceMs = START_PATIENCE_MS } = this.#options;
    signal?.throwIfAborted();
    const names = await listFolders(folder, mayBeMissing);
    // Watching starts before reading, so that no change falls in between.
    await this.#watch();
    for (const name of names.slice(0, MAX_PRESETS)) this.#unchecked.add(name);
    this.#reading = this.#readFirst(names);
    await Promise.race([this.#reading, sleep(startPatienceMs, undefined, { ref: false })]);
    this.#isStarted = true;
    this.#sort();
    signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  async #readFirst(names: readonly string[]): Promise<void> {
    for (const name of names.slice(0, MAX_PRESETS)) {
      if (this.#isClosed) return;
      const change = await this.#read(name);
      this.#unchecked.delete(name);
      if (this.#isStarted) this.#tell(change);
    }
    if (names.length > MAX_PRESETS)
      this.#noteProblem(`holds ${names.length} folders; the first ${MAX_PRESETS} by name are read`);
  }

  list(): readonly Preset[] {
    return this.#list;
  }

  find(name: string): Preset | undefined {
    return this.#live.get(name);
  }

  get(name: string): Preset {
    const preset = this.#live.get(name);
    if (preset !== undefined) return preset;
    if (this.isUnchecked(name)) throw new UncheckedPresetError(name);
    const names = this.#list.map((live) => live.name);
    throw new UnknownPresetError(name, { names, problems: this.#broken.get(name) });
  }

  isUnchecked(name: string): boolean {
    return this.#unchecked.has(name);
  }

  problems(): readonly PresetProblem[] {
    const problems = [...this.#broken.values()].flat().sort((a, b) => (a.file < b.file ? -1 : 1));
    return this.#folderProblem === undefined ? problems : [this.#folderProblem, ...problems];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#watcher?.close();
    await this.#reading;
  }

  async #watch(): Promise<void> {
    const { folder } = this.#options;
    const isForeign = (changed: string): boolean => {
      const [name = "", file] = path.relative(folder, changed).split(path.sep);
      return name.startsWith(".") || (file !== undefined && !FOLLOWED_FILES.includes(file));
    };
    // A missing folder is awaited in its parent.
    const watched = [path.resolve(folder), path.dirname(path.resolve(folder))];
    const watcher = watch(folder, {
      ignoreInitial: true,
      // Counted from the parent if the folder is created later.
      depth: 2,
      followSymlinks: false,
      ignored: (changed) => !watched.includes(path.resolve(changed)) && isForeign(changed),
    });
    this.#watcher = watcher;
    watcher.on("all", (_event, changed) =>
      this.#schedule(path.relative(folder, changed).split(path.sep)[0] ?? ""),
    );
    watcher.on("error", (error) =>
      this.#noteProblem(
        `changes may no longer be noticed (${messageOf(error)}); restart to read the presets again`,
      ),
    );
    await new Promise<void>((resolve) => watcher.once("ready", resolve));
  }

  #noteProblem(reason: string): void {
    this.#folderProblem = { preset: "", file: ".", reason };
  }

  /** Reads a preset again once changes have settled; `""` is the folder of all presets. */
  #schedule(name: string): void {
    if (this.#isClosed || name.startsWith(".")) return;
    if (name === "")
      for (const known of [...this.#live.keys(), ...this.#broken.keys()]) this.#changed.add(known);
    else this.#changed.add(name);
    // Further changes don't postpone it: a folder that is touched constantly must not keep others waiting.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const names = [...this.#changed];
      this.#changed.clear();
      this.#reading = this.#reading
        .then(() => this.#readAgain(names))
        .catch((error: unknown) =>
          this.#noteProblem(`a change could not be passed on (${messageOf(error)})`),
        );
    }, SETTLE_MS);
  }

  async #readAgain(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#isClosed) return;
      const isKnown = this.#live.has(name) || this.#broken.has(name);
      if (!isKnown && this.#live.size + this.#broken.size >= MAX_PRESETS)
        this.#noteProblem(`holds more than ${MAX_PRESETS} folders; those that came last are not read`);
      else this.#tell(await this.#read(name));
    }
  }

  #tell(change: PresetChange | undefined): void {
    this.#sort();
    if (change !== undefined && !this.#isClosed) this.#options.onChange?.(change);
  }

  /** Brings one preset up to date. Never throws: whatever a folder holds affects that preset alone. */
  async #read(name: string): Promise<PresetChange | undefined> {
    const { folder, run } = this.#options;
    const stats = await lstat(path.join(folder, name)).catch(() => undefined);
    if (stats === undefined || stats.isFile()) {
      const wasKnown = this.#live.delete(name) || this.#broken.delete(name);
      return wasKnown ? { kind: "removed", name } : undefined;
    }
    try {
      const preset = await loadPreset(folder, name);
      const before = this.#live.get(name);
      const isSame =
        before?.source === preset.source &&
        JSON.stringify(before.definition) === JSON.stringify(preset.definition);
      if (isSame) return undefined;
      const problems = run === undefined ? [] : await checkExamples(preset, run);
      if (problems.length > 0) return this.#break(name, problems);
      this.#broken.delete(name);
      this.#live.set(name, preset);
      return { kind: "live", preset };
    } catch (error) {
      const unexpected = { preset: name, file: name, reason: `can't be checked: ${messageOf(error)}` };
      return this.#break(name, error instanceof PresetBrokenError ? error.details : [unexpected]);
    }
  }

  #break(name: string, problems: readonly PresetProblem[]): PresetChange | undefined {
    const isNews = JSON.stringify(this.#broken.get(name)) !== JSON.stringify(problems);
    this.#live.delete(name);
    this.#broken.set(name, problems);
    return isNews ? { kind: "broken", name, problems } : undefined;
  }

  #sort(): void {
    const sorted = [...this.#live.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const isSame =
      sorted.length === this.#list.length && sorted.every((preset, index) => preset === this.#list[index]);
    if (!isSame) this.#list = sorted;
  }
}

/** Lists folders and links to folders; files beside them and hidden folders are not presets. */
async function listFolders(folder: string, mayBeMissing: boolean): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    const names = entries
      .filter((entry) => !entry.isFile() && !entry.name.startsWith("."))
      .map((entry) => entry.name);
    return names.sort();
  } catch (error) {
    if (mayBeMissing && (error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new PresetFolderError(error);
  }
}

/** The folder of all presets can't be read. Code `preset_folder_unreadable`. */
export class PresetFolderError extends TycheError {
  constructor(cause: unknown) {
    const reason = (cause as NodeJS.ErrnoException).code ?? messageOf(cause);
    super(`the folder of the presets can't be read (${reason}): name one with a subfolder for each preset`, {
      code: "preset_folder_unreadable",
      blame: "us",
      cause,
    });
  }
}

/** A preset whose examples have not been run since the start. Code `overloaded`. */
export class UncheckedPresetError extends TycheError {
  constructor(name: string) {
    super(`preset ${describeValue(name)} is being checked, as after each start: try again in a few seconds`, {
      code: "overloaded",
      blame: "us",
      expose: true,
      retryable: true,
    });
  }
}

/** A preset that isn't served. Code `invalid_parameter`: the name is a parameter of the request. */
export class UnknownPresetError extends InvalidParameterError {
  constructor(
    name: string,
    options: {
      readonly names: readonly string[];
      /** What keeps it from being served; absent if there is no such folder. */
      readonly problems: readonly PresetProblem[] | undefined;
    },
  ) {
    const { names, problems } = options;
    const why =
      problems === undefined
        ? "is not a preset"
        : `can't be served until its folder is repaired (${problems.map(formatPresetProblem).join("; ")})`;
    const others = names.length === 0 ? "there is none" : `there are ${names.join(", ")}`;
    // The parameters of a broken preset are unknown, so none of the request's can be called wrong.
    super([{ path: "/preset", message: `${describeValue(name)} ${why}; ${others}` }], {
      precludesOthers: problems !== undefined,
    });
  }
}
