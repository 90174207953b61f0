import { TycheError } from "../lib/errors.ts";

/** Something that keeps a preset from being served. */
export interface PresetProblem {
  /** Name of the preset's folder. */
  readonly preset: string;
  /** Path relative to the folder of all presets, such as `range/preset.json`; the preset's name for its folder itself. */
  readonly file: string;
  /** 1-based. Absent where the whole file or folder is meant. */
  readonly line?: number;
  /** 1-based, in UTF-16 code units. */
  readonly column?: number;
  /** One sentence without a full stop. */
  readonly reason: string;
}

/** Writes a problem as compilers do: `range/preset.json:3:5: reason`. */
export function formatPresetProblem(problem: PresetProblem): string {
  const position = problem.line === undefined ? "" : `:${problem.line}:${problem.column ?? 1}`;
  return `${problem.file}${position}: ${problem.reason}`;
}

/** A preset's folder that can't be used, with everything that was found wrong in it. Code `preset_broken`. */
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
