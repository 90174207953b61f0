import { missing, wrongType } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";

type Exports = Readonly<Record<string, unknown>>;
type Path = Record<string, unknown>;

/** Creates `node:path`, `node:path/posix` and `node:path/win32`: Node's own, called in the host; the current directory is the root. */
export function createPaths(internals: Internals): Readonly<Record<"path" | "posix" | "win32", Exports>> {
  const posix = createPath(internals, "posix");
  const win32 = createPath(internals, "win32");
  for (const path of [posix, win32]) Object.assign(path, { win32, posix });
  const { matchesGlob, ...posixNames } = posix;
  const win32Names: Path = { ...win32 };
  delete win32Names["matchesGlob"];
  return {
    path: { ...posixNames, common, matchesGlob, default: posix },
    posix: { ...posixNames, default: posix },
    win32: { ...win32Names, default: win32 },
  };
}

/** Returns the folder that all paths have in common, with the separator at its end. */
function common([first = "", ...others]: readonly string[], sep = "/"): string {
  if (first === "" || others.length === 0) return first.substring(0, first.lastIndexOf(sep) + 1);
  const parts = first.split(sep);
  const lists = others.map((path) => path.split(sep));
  const differs = parts.findIndex((part, at) => lists.some((list) => list[at] !== part));
  const prefix = parts.slice(0, differs < 0 ? undefined : differs).join(sep);
  return differs === 0 || prefix.endsWith(sep) ? prefix : prefix + sep;
}

function createPath({ native, load }: Internals, style: "posix" | "win32"): Path {
  const [sep, delimiter] = style === "posix" ? ["/", ":"] : ["\\", ";"];
  const check = (path: unknown, name = "path"): string => {
    if (typeof path !== "string") throw wrongType(name, "string", path);
    return path;
  };
  const call = (method: string, ...args: readonly string[]): unknown =>
    JSON.parse(native("path", { style, method, args }) as string);
  const refuse = (message: string): Error => {
    const { Deno } = load("platform") as { Deno: { errors: Record<string, ErrorConstructor> } };
    const error = new (Deno.errors["NotCapable"] as ErrorConstructor)(message);
    return Object.assign(error, { name: "NotCapable" });
  };
  /** A path that is relative to a drive needs the drive's directory, which Deno keeps in the environment. */
  const checkDrives = (...paths: readonly string[]): void => {
    if (style === "posix") return;
    let drive = "";
    for (const path of paths.toReversed()) {
      const [start = "", letter = "", slash] = /^(?:([a-z]:)?([\\/])?)/i.exec(path) ?? [];
      if (start === "" || (letter !== "" && drive !== "" && letter.toLowerCase() !== drive.toLowerCase()))
        continue;
      drive ||= letter;
      if (slash !== undefined) return;
    }
    if (drive !== "") throw refuse(`Requires env access to "=${drive}", run again with the --allow-env flag`);
  };
  const toNamespacedPath = (path: unknown): unknown => {
    if (typeof path !== "string" || style === "posix") return path;
    checkDrives(path);
    return call("toNamespacedPath", path);
  };
  return {
    basename: (path: unknown, suffix: unknown = undefined) => {
      const ends = suffix === undefined ? [] : [check(suffix, "ext")];
      return call("basename", check(path), ...ends);
    },
    delimiter,
    dirname: (path: unknown) => call("dirname", check(path)),
    extname: (path: unknown) => call("extname", check(path)),
    format: (parts: unknown): string => {
      if (typeof parts !== "object" || parts === null) throw wrongType("pathObject", "object", parts);
      const { dir, root, base, name, ext } = parts as Record<string, string | undefined>;
      const end = ext ? (ext.startsWith(".") ? ext : `.${ext}`) : "";
      const file = base || `${name || ""}${end}`;
      const folder = dir || root;
      return folder ? (folder === root ? `${folder}${file}` : `${folder}${sep}${file}`) : file;
    },
    isAbsolute: (path: unknown) => call("isAbsolute", check(path)),
    join: (...paths: unknown[]) => call("join", ...paths.map((path) => check(path))),
    normalize: (path: unknown) => call("normalize", check(path)),
    parse: (path: unknown) => call("parse", check(path)),
    relative: (from: unknown, to: unknown) => {
      const [start, end] = [check(from), check(to)];
      checkDrives(start);
      checkDrives(end);
      return call("relative", start, end);
    },
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
      const given = paths.slice(first) as string[];
      checkDrives(...given);
      return call("resolve", ...given);
    },
    sep,
    toNamespacedPath,
    _makeLong: toNamespacedPath,
    matchesGlob(path: unknown, pattern: unknown): never {
      check(path);
      check(pattern, "pattern");
      return missing("path: matchesGlob")();
    },
  };
}
