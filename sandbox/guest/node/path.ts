import { wrongType } from "../buffer/errors.ts";

/** Creates `node:path`, POSIX only; the current directory is `/`. */
export function createPath(): Readonly<Record<string, unknown>> {
  const check = (path: unknown, name = "path"): string => {
    if (typeof path !== "string") throw wrongType(name, "string", path);
    return path;
  };
  function squeeze(path: string, isAbsolute: boolean): string {
    const out: string[] = [];
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (part !== "..") out.push(part);
      else if (out.length > 0 && out.at(-1) !== "..") out.pop();
      else if (!isAbsolute) out.push("..");
    }
    return out.join("/");
  }
  const posix: Record<string, unknown> & {
    normalize(path: string): string;
    resolve(...paths: string[]): string;
  } = {
    sep: "/",
    delimiter: ":",
    normalize(path: string): string {
      if (check(path) === "") return ".";
      const isAbsolute = path.startsWith("/");
      const rest = squeeze(path, isAbsolute);
      const tail = path.endsWith("/") && rest !== "" ? "/" : "";
      return (isAbsolute ? "/" : "") + (rest || (isAbsolute ? "" : ".")) + tail;
    },
    isAbsolute: (path: string): boolean => check(path).startsWith("/"),
    join: (...paths: string[]): string => {
      const joined = paths
        .map((path) => check(path))
        .filter((path) => path !== "")
        .join("/");
      return joined === "" ? "." : posix.normalize(joined);
    },
    resolve: (...paths: string[]): string => {
      let path = "";
      for (let at = paths.length - 1; at >= 0 && !path.startsWith("/"); at--) {
        const part = check(paths[at], `paths[${at}]`);
        if (part !== "") path = path === "" ? part : `${part}/${path}`;
      }
      return `/${squeeze(path, true)}`;
    },
    relative: (from: string, to: string): string => {
      const source = posix.resolve(check(from, "from")).split("/").filter(Boolean);
      const target = posix.resolve(check(to, "to")).split("/").filter(Boolean);
      let same = 0;
      while (same < source.length && source[same] === target[same]) same++;
      return [...source.slice(same).map(() => ".."), ...target.slice(same)].join("/");
    },
    dirname: (path: string): string => {
      const trimmed = check(path).replace(/\/+$/, "");
      if (trimmed === "") return path.startsWith("/") ? "/" : ".";
      const at = trimmed.lastIndexOf("/");
      return at < 0 ? "." : trimmed.slice(0, at).replace(/\/+$/, "") || "/";
    },
    basename: (path: string, suffix?: string): string => {
      const base = check(path).replace(/\/+$/, "").replace(/^.*\//s, "");
      return suffix !== undefined && base !== suffix && base.endsWith(suffix)
        ? base.slice(0, -suffix.length)
        : base;
    },
    extname: (path: string): string => {
      const base = check(path).replace(/\/+$/, "").replace(/^.*\//s, "");
      const at = base.lastIndexOf(".");
      return at <= 0 || /^\.+$/.test(base) ? "" : base.slice(at);
    },
    parse(path: string): object {
      const { dirname, basename, extname } = posix as unknown as Record<string, (path: string) => string>;
      const base = (basename as (path: string) => string)(path);
      const ext = (extname as (path: string) => string)(path);
      const isAbsolute = path.startsWith("/");
      const dir = path.includes("/") ? (dirname as (path: string) => string)(path) : "";
      return {
        root: isAbsolute ? "/" : "",
        dir,
        base,
        ext,
        name: ext === "" ? base : base.slice(0, -ext.length),
      };
    },
    format: ({ dir, root = "", base, name = "", ext = "" }: Record<string, string>): string => {
      const file = base ?? `${name}${ext !== "" && !ext.startsWith(".") ? "." : ""}${ext}`;
      return dir === undefined ? root + file : dir === root ? dir + file : `${dir}/${file}`;
    },
    toNamespacedPath: (path: string): string => path,
  };
  posix["posix"] = posix;
  posix["win32"] = posix;
  return { ...posix, default: posix };
}
