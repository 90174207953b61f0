import { initSync, parse } from "cjs-module-lexer";
import type { GraphModule, ModuleGraph } from "./moduleGraph.ts";

/** Modules followed for their re-exports; Node has no limit. */
const MAX_REEXPORTS = 100;

/**
 * Finds the names that a CommonJS module offers to an `import`, besides `default` and `module.exports`: those
 * that Node and Deno read from its text, including re-exported ones, sorted.
 */
export async function commonJsNames(graph: ModuleGraph, root: GraphModule): Promise<readonly string[]> {
  initSync();
  const names = new Set<string>();
  const seen = new Set<string>();
  const queue: GraphModule[] = [root];
  for (
    let module = queue.shift();
    module !== undefined && seen.size < MAX_REEXPORTS;
    module = queue.shift()
  ) {
    if (seen.has(module.path) || module.kind !== "code") continue;
    seen.add(module.path);
    const { exports, reexports } = lex(Buffer.from(module.contents).toString());
    for (const name of exports) names.add(name);
    for (const specifier of reexports) {
      const found = await graph.resolve(specifier, module, "require-call").catch(() => undefined);
      if (found !== undefined) queue.push(found);
    }
  }
  names.delete("default");
  names.delete("module.exports");
  return [...names].filter((name) => name.isWellFormed()).sort();
}

/** A text that the lexer gives up on exports no names, as in Node. */
function lex(text: string): { readonly exports: readonly string[]; readonly reexports: readonly string[] } {
  try {
    return parse(text);
  } catch {
    return { exports: [], reexports: [] };
  }
}
