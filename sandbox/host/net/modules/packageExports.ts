/** Conditions for `import`, unordered: the manifest's own order decides. Deno's set. */
export const IMPORT_CONDITIONS: ReadonlySet<string> = new Set(["deno", "node", "import", "default"]);
/** Conditions for `require`. */
export const REQUIRE_CONDITIONS: ReadonlySet<string> = new Set(["deno", "node", "require", "default"]);

/**
 * Resolves a subpath through a package's `exports` or `imports` field.
 * Source: Node.js documentation, "Resolution Algorithm Specification", PACKAGE_IMPORTS_EXPORTS_RESOLVE.
 *
 * @param field The manifest's `exports` (keys `.`, `./x`) or `imports` (keys `#x`); hostile input, any JSON.
 * @param subpath `.`, `./x` or `#x`.
 * @returns The target as written in the manifest (`./file.js`, or for `imports` also a bare specifier), or
 * `null` if nothing matches or the target leaves the package.
 */
export function resolveExports(
  field: unknown,
  subpath: string,
  conditions: ReadonlySet<string>,
): string | null {
  const isSubpaths =
    isRecord(field) && Object.keys(field).some((key) => key.startsWith(".") || key.startsWith("#"));
  const table: Readonly<Record<string, unknown>> = isSubpaths ? field : { ".": field };
  if (Object.hasOwn(table, subpath) && !subpath.includes("*"))
    return resolveTarget(table[subpath], "", conditions, 0);
  const patterns = Object.keys(table).filter((key) => key.split("*").length === 2 && matches(key, subpath));
  // The longest part before the star wins, then the longest key (PATTERN_KEY_COMPARE).
  const [best] = patterns.sort((a, b) => b.indexOf("*") - a.indexOf("*") || b.length - a.length);
  if (best === undefined) return null;
  const [head = "", tail = ""] = best.split("*");
  return resolveTarget(table[best], subpath.slice(head.length, subpath.length - tail.length), conditions, 0);
}

function matches(pattern: string, subpath: string): boolean {
  const [head = "", tail = ""] = pattern.split("*");
  return subpath.startsWith(head) && subpath.endsWith(tail) && subpath.length > head.length + tail.length;
}

/** Deepest nesting of conditions that is followed; real packages have three or four levels. */
const MAX_DEPTH = 16;

function resolveTarget(
  target: unknown,
  star: string,
  conditions: ReadonlySet<string>,
  depth: number,
): string | null {
  if (depth > MAX_DEPTH) return null;
  if (typeof target === "string") return isInside(star) ? target.replaceAll("*", () => star) : null;
  if (Array.isArray(target)) {
    for (const item of target as unknown[]) {
      const found = resolveTarget(item, star, conditions, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isRecord(target)) return null;
  for (const [condition, value] of Object.entries(target)) {
    if (!conditions.has(condition)) continue;
    const found = resolveTarget(value, star, conditions, depth + 1);
    if (found !== null || value === null) return found;
  }
  return null;
}

function isInside(star: string): boolean {
  return !star.split("/").some((part) => part === ".." || part === "." || part === "node_modules");
}

/** Whether a JSON value is an object, not an array or `null`. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
