import type { DifferentialCase } from "./cases.ts";
import { type Answer, toAnswer, toSimulationInput } from "./reference.ts";
import { DECLARED, type Declared } from "./declared.ts";
import { CRASH_TEXT } from "../../../sandbox/run.ts";
import { simulateScript, type SimulationInput } from "../../../sandbox/simulateScript.ts";

/** A difference between our answer and the reference's. */
export interface Difference {
  readonly id: string;
  readonly what: readonly ("bytes" | "error" | "console")[];
  readonly reference: Answer;
  readonly ours: Answer;
  /** Why this difference is wanted; undefined if it is a defect. */
  readonly declared: Declared | undefined;
}

/** Runs a case in our sandbox. */
export async function runOurs(testCase: DifferentialCase, serverUrl: string): Promise<Answer> {
  const result = await simulateScript(toSimulationInput(testCase, serverUrl) as unknown as SimulationInput);
  return toAnswer({ ...result }, serverUrl);
}

/** Compares two answers; undefined when they agree. */
export function compare(testCase: DifferentialCase, reference: Answer, ours: Answer): Difference | undefined {
  const what: ("bytes" | "error" | "console")[] = [];
  if (reference.bytes !== ours.bytes) what.push("bytes");
  if (withoutFrames(reference.error ?? "\0") !== withoutFrames(ours.error ?? "\0")) what.push("error");
  if (!sameConsole(reference, ours)) what.push("console");
  if (what.length === 0) return undefined;
  return { id: testCase.id, what, reference, ours, declared: DECLARED[testCase.id] };
}

/**
 * Stack frames name files of the wrapper and are left out. When a source ends Deno itself, Deno prints its own report at the end of the
 * output, with the path of a temporary file and in the words of its own parser, and so do we: of the two reports only the place counts,
 * after everything that the source printed.
 */
function sameConsole(reference: Answer, ours: Answer): boolean {
  const expected = withoutFrames(reference.console);
  if (reference.error !== CRASH_TEXT || ours.error !== CRASH_TEXT)
    return expected === withoutFrames(ours.console);
  const printed = ours.console.replace(OUR_REPORT, "");
  const actual = withoutFrames(printed);
  if (!expected.startsWith(actual)) return false;
  return printed === ours.console || /^error: /m.test(expected.slice(actual.length));
}

/** What our `simulateScript` prints for an error that ended the program: the last such text, up to the very end. */
const OUR_REPORT = /^error: (?:Uncaught |SyntaxError: )(?:(?!^error: )[^])*(?![^])/m;

function withoutFrames(text: string): string {
  return text.replace(/\n\s+at .*\n?$/gm, "");
}
