import { TycheError } from "../lib/errors.ts";

/** Something that keeps a preset from being served. */
export interface PresetProblem {
  /** Name of the preset's folder. */
  readonly preset: string;
  /**
   * Path relative to the folder of all presets, such as `range/preset.json`; the preset's name if it is about the folder
   * itself.
   */
  readonly file: string;
  /** 1-based. Absent if the problem concerns the whole file or folder. */
  readonly line?: number;
  /** 1-based, in UTF-16 code units. */
  readonly column?: number;
  /** One sentence without a full stop. */
  readonly reason: string;
}

/** Formats a problem as compilers do: `range/preset.json:3:5: reason`. */
export function formatPresetProblem(problem: PresetProblem): string {
  const position = problem.line === undefined ? "" : `:${problem.line}:${problem.column ?? 1}`;
  return `${problem.file}${position}: ${problem.reason}`;
}

/** A preset's folder can't be used; lists everything that is wrong with it. Code `preset_broken`. */
export class PresetBrokenError extends TycheError {
  override readonly details: readonly PresetProblem[];

  constructor(problems: readonly PresetProblem[], options: { readonly cause?: unknown } = {}) {
    super(problems.map(formatPresetProblem).join("\n"), {
      code: "preset_broken",
      blame: "us",
      cause: options.cause,
    });
    this.details = problems;
  }
}
