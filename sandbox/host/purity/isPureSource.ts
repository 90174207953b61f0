import { parse, type Program } from "acorn";
import { findPlainValues } from "./plainValues.ts";
import { assertPure } from "./rules.ts";
import { resolve } from "./scopes.ts";

/** Verdicts kept, so that a source that runs often is read once. */
const MAX_KEPT = 256;
/** Longest source that is read, in UTF-16 units: more than a preset can have. */
const MAX_SOURCE_CHARS = 32_768;

const kept = new Map<string, boolean>();

/**
 * Whether a source is shown to be pure: all that it writes to is its own and new in each run, and it neither waits nor asks for time,
 * randomness or anything from outside, so that one run leaves nothing for the next.
 *
 * It is shown from the text: from a closed list of syntax (`rules.ts`) and of names (`allowed.ts`), with no expression whose value could be an
 * object that runs share. Whatever is not on the lists makes a source impure, however harmless. Verdicts are kept by text.
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
    // Impure, not JavaScript, or nested so deep that the stack ends: all of them keep a context of their own.
    return false;
  }
}

/** Parses a source as what it is compiled as: the body of one async arrow function in a module, and nothing behind it. */
function parseBody(source: string): Program {
  const program = parse(`(async () => {\n${source}\n});`, { ecmaVersion: "latest", sourceType: "module" });
  const [statement, ...more] = program.body;
  if (more.length > 0 || statement?.type !== "ExpressionStatement") throw new SyntaxError("more than a body");
  const { expression } = statement;
  if (expression.type !== "ArrowFunctionExpression" || expression.body.type !== "BlockStatement")
    throw new SyntaxError("no body");
  return { ...program, body: expression.body.body };
}
