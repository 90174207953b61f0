import type { PresetProblem } from "../api/types.ts";
import { TycheError } from "../lib/errors.ts";

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
