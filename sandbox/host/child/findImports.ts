import type * as Acorn from "acorn";

/**
 * Finds the `import` keywords of dynamic imports and of `import.meta` in a function body, as offsets, in order.
 * isolated-vm has no hook for them, so a function takes their place.
 *
 * The whole text is parsed, so a property, a method, a string or a comment that says `import(` doesn't count.
 * Text that doesn't parse has none: the compiler says what is wrong with it. Code that a source creates at run
 * time (`eval`, `new Function`) isn't searched; an `import()` in it rejects with `Not supported`.
 */
export function findImports(body: string): readonly number[] {
  const { parse } = require("acorn") as typeof Acorn;
  let program: Acorn.Program;
  try {
    program = parse(body, {
      ecmaVersion: "latest",
      sourceType: "module",
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      allowHashBang: false,
    });
  } catch {
    return [];
  }
  const found: number[] = [];
  // An explicit stack instead of recursion: a tree may be deeper than the call stack.
  const open: unknown[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node === null || typeof node !== "object") continue;
    if (isImport(node)) found.push(node.start);
    for (const member of Object.values(node)) if (typeof member === "object") open.push(member);
  }
  return found.sort((a, b) => a - b);
}

function isImport(node: object): node is Acorn.ImportExpression | Acorn.MetaProperty {
  const { type, meta } = node as { type?: unknown; meta?: { name?: unknown } };
  return type === "ImportExpression" || (type === "MetaProperty" && meta?.name === "import");
}
