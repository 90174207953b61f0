import type { PresetProblem } from "../api/types.ts";
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { checkExamples } from "./checkPreset.ts";
import { describeValue } from "../lib/describeValue.ts";
import { didYouMean } from "../lib/didYouMean.ts";
import { loadPreset } from "./loadPreset.ts";
import type { Preset, RunSource } from "./preset.ts";
import { formatPresetProblem, PresetBrokenError } from "./presetProblem.ts";

/**
 * How often changes are looked for, in ms: a new preset is to be live after about a second, settling and examples included. Four times a second,
 * looking took a third of an idle service's processor time.
 */
const LOOK_INTERVAL_MS = 600;
/** Debounce, in ms, for a burst of changes such as copying a folder. */
const SETTLE_MS = 100;
/** Most folders that are read, and presets that are known. */
const MAX_PRESETS = 500;
/** How long startup waits for all presets, in ms; those whose examples take longer go live when they are done. */
const START_PATIENCE_MS = 10_000;
/** The files followed within a preset's folder. */
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
 * Reads every preset in a folder and follows changes: a new folder is live after about a second, an edited one is read again. A folder that
 * breaks or is removed stops being served and affects no other: serving a preset that is gone would hide the mistake, and requests in
 * flight keep the preset they started with. Resolves when all were read, or after 10 s, so that slow examples don't hold up startup.
 * Throws `preset_folder_unreadable` if the folder itself can't be read, or is missing and may not be.
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
  readonly #unchecked = new Set<string>();
  readonly #closing = new AbortController();
  /** What each preset's files were at the last look. */
  #marks: ReadonlyMap<string, string> = new Map();
  #folderProblem: PresetProblem | undefined;
  #list: readonly Preset[] = [];
  #following: Promise<void> = Promise.resolve();
  #isStarted = false;

  constructor(options: PresetRegistryOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { folder, mayBeMissing = false, signal, startPatienceMs = START_PATIENCE_MS } = this.#options;
    signal?.throwIfAborted();
    const names = await this.#look(await listFolders(folder, mayBeMissing));
    for (const name of names) this.#unchecked.add(name);
    const reading = this.#readFirst(names);
    this.#following = reading.then(() => this.#follow());
    await Promise.race([reading, sleep(startPatienceMs, undefined, { ref: false })]);
    this.#isStarted = true;
    this.#sort();
    signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  async #readFirst(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#closing.signal.aborted) return;
      const change = await this.#read(name);
      this.#unchecked.delete(name);
      if (this.#isStarted) this.#tell(change);
    }
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
    this.#closing.abort();
    await this.#following;
  }

  /**
   * Looks at the files again and again: the system's notices of changes miss what is written while a folder is being made, and don't
   * come at all from many shared and mounted folders.
   */
  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal, ref: false }).catch(() => {});
    for (;;) {
      await pause(LOOK_INTERVAL_MS);
      try {
        const changed = await this.#look(await listFolders(this.#options.folder, true));
        if (changed.length > 0) await pause(SETTLE_MS);
        for (const name of changed) {
          if (signal.aborted) return;
          this.#tell(await this.#read(name));
        }
      } catch (error) {
        this.#noteProblem(`changes are not noticed (${messageOf(error)})`);
      }
      if (signal.aborted) return;
    }
  }

  /** The presets that came, changed or went since the last look. */
  async #look(names: readonly string[]): Promise<string[]> {
    const before = this.#marks;
    const isKnown = (name: string): boolean => before.has(name);
    const kept = [...names.filter(isKnown), ...names.filter((name) => !isKnown(name))].slice(0, MAX_PRESETS);
    const { folder } = this.#options;
    this.#marks = new Map(
      await Promise.all(kept.map(async (name) => [name, await markOf(path.join(folder, name))] as const)),
    );
    if (names.length > MAX_PRESETS)
      this.#noteProblem(`holds ${names.length} folders; ${MAX_PRESETS} are read`);
    else this.#folderProblem = undefined;
    return [...new Set([...before.keys(), ...kept])].filter(
      (name) => this.#marks.get(name) !== before.get(name),
    );
  }

  #noteProblem(reason: string): void {
    this.#folderProblem = { preset: "", file: ".", reason };
  }

  #tell(change: PresetChange | undefined): void {
    this.#sort();
    if (change !== undefined && !this.#closing.signal.aborted) this.#options.onChange?.(change);
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

/** Differs once one of a preset's files was made, written, replaced or removed. */
async function markOf(presetFolder: string): Promise<string> {
  const marks = FOLLOWED_FILES.map(async (file) => {
    const stats = await lstat(path.join(presetFolder, file)).catch(() => undefined);
    return stats && `${stats.ino}@${stats.ctimeMs}`;
  });
  return (await Promise.all(marks)).join();
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
    const reason = (error as NodeJS.ErrnoException).code ?? messageOf(error);
    throw new TycheError(
      `the folder of the presets can't be read (${reason}): name one with a subfolder for each preset`,
      { code: "preset_folder_unreadable", blame: "us", cause: error },
    );
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
    super(
      [{ path: "/preset", message: `${describeValue(name)} ${why}; ${others}${didYouMean(name, names)}` }],
      {
        precludesOthers: problems !== undefined,
      },
    );
  }
}
