import { parse, type Program } from "acorn";
import { findPlainValues } from "./plainValues.ts";
import { assertPure } from "./rules.ts";
import { resolve } from "./scopes.ts";

/** Verdicts kept, so that a source that runs often is analysed once. */
const MAX_KEPT = 256;
/** Longest source that is analysed, in UTF-16 units: more than a preset can have. */
const MAX_SOURCE_CHARS = 32_768;

const kept = new Map<string, boolean>();

/**
 * Whether a source is proved pure: it writes only to values of its own, new in each run, and it neither waits nor asks for time, randomness or
 * anything from outside, so that one run leaves nothing for the next.
 *
 * The proof uses the text alone: a closed list of syntax (`rules.ts`) and of names (`allowed.ts`), with no expression whose value could be an
 * object that runs share. Anything not on the lists makes a source impure, however harmless. Verdicts are cached by text.
 */
export function isPureSource(source: string): boolean {
  if (source.length > MAX_SOURCE_CHARS) return false;
  let verdict = kept.get(source);
  if (verdict === undefined) {
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(source, (verdict = analyse(source)));
  }
  return verdict;
}

function analyse(source: string): boolean {
  try {
    const body = parseBody(source);
    const bindings = resolve(body);
    assertPure(body, { bindings, isPlain: findPlainValues(body, bindings) });
    return true;
  } catch {
    // Impure, not JavaScript, or nested so deep that the stack overflows: each of them keeps a context of its own.
    return false;
  }
}

/** Parses a source in the form in which it is compiled: the body of one async arrow function in a module, with nothing after it. */
function parseBody(source: string): Program {
  const program = parse(`(async () => {\n${source}\n});`, { ecmaVersion: "latest", sourceType: "module" });
  const [statement, ...more] = program.body;
  if (more.length > 0 || statement?.type !== "ExpressionStatement") throw new SyntaxError("more than a body");
  const { expression } = statement;
  if (expression.type !== "ArrowFunctionExpression" || expression.body.type !== "BlockStatement")
    throw new SyntaxError("no body");
  return { ...program, body: expression.body.body };
}
