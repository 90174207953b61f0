import { missing, wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

type Exports = Readonly<Record<string, unknown>>;
type Path = Record<string, unknown>;

/** Creates `node:path`, `node:path/posix` and `node:path/win32`: Node's own, called in the host; the current directory is the root. */
export function createPaths({ native }: Internals): Readonly<Record<"path" | "posix" | "win32", Exports>> {
  const posix = createPath(native, "posix");
  const win32 = createPath(native, "win32");
  for (const path of [posix, win32]) Object.assign(path, { win32, posix });
  const { matchesGlob, ...posixNames } = posix;
  const common = missing("path: common");
  const win32Names: Path = { ...win32 };
  delete win32Names["matchesGlob"];
  return {
    path: { ...posixNames, common, matchesGlob, default: posix },
    posix: { ...posixNames, default: posix },
    win32: { ...win32Names, default: win32 },
  };
}

function createPath(native: Internals["native"], style: "posix" | "win32"): Path {
  const [sep, delimiter] = style === "posix" ? ["/", ":"] : ["\\", ";"];
  const check = (path: unknown, name = "path"): string => {
    if (typeof path !== "string") throw wrongType(name, "string", path);
    return path;
  };
  const call = (method: string, ...args: readonly string[]): unknown =>
    JSON.parse(native("path", { style, method, args }) as string);
  const toNamespacedPath = (path: unknown): unknown =>
    typeof path === "string" && style === "win32" ? call("toNamespacedPath", path) : path;
  return {
    basename: (path: unknown, suffix: unknown = undefined) =>
      suffix === undefined
        ? call("basename", check(path))
        : call("basename", check(path), check(suffix, "ext")),
    delimiter,
    dirname: (path: unknown) => call("dirname", check(path)),
    extname: (path: unknown) => call("extname", check(path)),
    format: (parts: unknown): string => {
      if (typeof parts !== "object" || parts === null) throw wrongType("pathObject", "object", parts);
      const { root, dir, base, name, ext } = parts as Record<string, string | undefined>;
      const end = ext ? (ext.startsWith(".") ? ext : `.${ext}`) : "";
      const file = base || `${name || ""}${end}`;
      const folder = dir || root;
      return folder ? (folder === root ? `${folder}${file}` : `${folder}${sep}${file}`) : file;
    },
    isAbsolute: (path: unknown) => call("isAbsolute", check(path)),
    join: (...paths: unknown[]) => call("join", ...paths.map((path) => check(path))),
    normalize: (path: unknown) => call("normalize", check(path)),
    parse: (path: unknown) => call("parse", check(path)),
    relative: (from: unknown, to: unknown) => call("relative", check(from), check(to)),
    resolve: (...paths: unknown[]) => {
      let first = paths.length;
      // What stands before the last absolute path doesn't count, whatever it is.
      while (
        first > 0 &&
        !(style === "posix" && first < paths.length && String(paths[first]).startsWith("/"))
      ) {
        first--;
        check(paths[first], style === "posix" ? `paths[${first}]` : "path");
      }
      return call("resolve", ...(paths.slice(first) as string[]));
    },
    sep,
    toNamespacedPath,
    _makeLong: toNamespacedPath,
    matchesGlob: missing("path: matchesGlob"),
  };
}
