import { inheritedGlobals, orderedGlobals } from "../../guest/globals.ts";

/** Decisions kept, so that a source that runs often is scanned once. */
const MAX_KEPT = 64;
const MAX_KEPT_CHARS = 32_768;

/** Ways to reach the global object itself or code created at run time, and escapes that may spell any name. */
const INDIRECT = "globalThis window eval Function constructor import makeHttpRequest";
const names = [INDIRECT, orderedGlobals, inheritedGlobals]
  .join(" ")
  .split(" ")
  .filter((word) => !word.endsWith(":"));
/** A name after one dot is a property; after three dots it is spread. */
const NAMED = new RegExp(
  `(?<![\\w$]|(?<!\\.\\.)\\.)(?:${names.join("|")})(?![\\w$])|\\.\\s*constructor|\\\\u`,
);

const kept = new Map<string, boolean>();

/**
 * Whether a source's text names anything that Deno adds to the global object, or a way to that object. A guess for
 * speed alone that errs on the side of yes. A source for which it is wrong still finds the names: the guest fills its
 * global object when first asked for one of them.
 */
export function namesGlobals(source: string): boolean {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const found = NAMED.test(source);
  if (source.length <= MAX_KEPT_CHARS) {
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(source, found);
  }
  return found;
}

/** An assignment, not a comparison or an arrow. `Map ||= X` and `Map ??= X` replace nothing that exists. */
const ASSIGNS = "\\s*(?:&&)?=(?![=>])";
/** Names of the language's classes and namespaces, among them Node's. */
const BUILT_INS = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name));

/**
 * Ways to a prototype or to the global object, code created at run time, and a built-in or a member of one right before `=`, or after `delete`.
 * Not in a pattern or a loop, `[Array.from] = x` or `for (Map of x)`: `const { Buffer } = x` is common, and looks alike.
 * What looks back over blanks stands after a letter: before it, it would run at each blank.
 * `\\u` may spell any name. After `{`, `(` or `,`, `A = 1` is usually a default or a declared variable, so only names of built-ins count there.
 */
const REPLACES = new RegExp(
  [
    /[pP]rototype|__proto__|globalThis|window|self|\.\s*constructor\b|\beval\b|\bFunction\b|\\u/.source,
    `(?<![\\w$.])[A-Z]\\w*\\s*(?:\\.\\s*\\w+|\\[[^\\]]{0,200}\\])${ASSIGNS}`,
    `(?<![\\w$.])[A-Z](?<!(?:(?:const|let|var|type|static)\\s+|[,{(]\\s*)[A-Z])\\w*${ASSIGNS}`,
    `[,{(]\\s*(?:${BUILT_INS.join("|")})${ASSIGNS}`,
    /\bdelete\s+[A-Z]|(?:assign|define\w{1,20}|set|deleteProperty)\s*\(\s*[A-Z]/.source,
  ].join("|"),
);

/** Whether a source's text looks as if it replaced a built-in or changed a prototype: our own code then uses the originals. */
export const replacesBuiltIns = (source: string): boolean => REPLACES.test(source);

/**
 * Whether a source's text may read property descriptors of the global object, for which globals have to be made that it may not use.
 */
export const describesProperties = (source: string): boolean =>
  /getOwnPropertyDescriptors?\s*\(\s*(?:globalThis|window|self|global)\b|\b(?:globalThis|window|self|global)\s*\.\s*__lookup[GS]etter__/.test(
    source,
  );
