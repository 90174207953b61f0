import { isObject } from "../../lib/isObject.ts";
import { statSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { createHostPolicy, createModuleAllowList, SandboxOptionError } from "../../../sandbox/index.ts";
import { parseServedHosts } from "../../http/publicGuard.ts";
import { messageOf } from "../../lib/errors.ts";
import { describeValue } from "../../lib/describeValue.ts";
import type { ParameterViolation } from "../../lib/invalidParameter.ts";
import type { JsonValue } from "../../lib/parseJson.ts";
import { ORIGIN_FORM, parseRpcOrigins } from "../../networks/embedded/rpcAccess.ts";
import { DEFAULT_LIMITS } from "../../http/limits.ts";
import { parsePublicUrl, PUBLIC_URL_FORM } from "./publicUrl.ts";
import type { Members } from "./readConfigFile.ts";

/** Lists whose entries are parsed at startup, each with that same parser and the form an entry must have. */
const LISTS: Readonly<Record<string, (entry: string) => void>> = {
  "/rpcOrigins": (entry) => expecting(`an origin such as ${ORIGIN_FORM}`, () => parseRpcOrigins([entry])),
  "/hosts": (entry) => expecting("a host name without scheme, port or path", () => parseServedHosts([entry])),
  "/sandbox/allowHosts": (entry) => createHostPolicy([entry]),
  "/sandbox/allowModules": (entry) => createModuleAllowList([entry]),
};
const HOST_NAME = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]*[a-z\d_])?)*\.?$/i;

/**
 * Finds values that the schema accepts but a start would refuse: list entries that can't be parsed, an invalid address, a missing
 * folder, contradictory times. Members of a wrong type are left to the schema.
 *
 * @param options.pluginsBase Folder where a relative `pluginsDir` starts.
 */
export function findUnusable(
  members: Members,
  { pluginsBase }: { readonly pluginsBase: string },
): readonly ParameterViolation[] {
  return [
    ...Object.entries(LISTS).flatMap(([path, parse]) => findUnusableEntries(members, path, parse)),
    ...findUnusableHost(members["host"]),
    ...findUnusablePublicUrl(members["publicUrl"]),
    ...findUnusableFolder(members["pluginsDir"], pluginsBase),
    ...findContradictingTimes(members["http"]),
  ];
}

function findUnusableEntries(
  members: Members,
  path: string,
  parse: (entry: string) => void,
): ParameterViolation[] {
  let list: JsonValue | undefined = members;
  for (const name of path.slice(1).split("/")) list = isObject(list) ? list[name] : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry, index) => {
    if (typeof entry !== "string" || entry === "") return [];
    try {
      parse(entry);
      return [];
    } catch (error) {
      const expected = error instanceof SandboxOptionError ? error.details.expected : messageOf(error);
      return [{ path: `${path}/${index}`, message: `${describeValue(entry)} can't be used: ${expected}` }];
    }
  });
}

function findUnusableHost(host: JsonValue | undefined): ParameterViolation[] {
  if (typeof host !== "string" || host === "" || isIP(host) !== 0) return [];
  // An invalid address that looks like IPv4 would be looked up as a name.
  if (HOST_NAME.test(host) && host.length <= 253 && !/^[\d.]+$/.test(host)) return [];
  return [
    {
      path: "/host",
      message: `must be an address of this machine, such as 127.0.0.1, ::1 or 0.0.0.0, without port; got ${describeValue(host)}`,
    },
  ];
}

function findUnusablePublicUrl(url: JsonValue | undefined): ParameterViolation[] {
  if (typeof url !== "string" || url === "") return [];
  try {
    parsePublicUrl(url);
    return [];
  } catch {
    // What comes before an @ may be a password.
    const got = url.includes("@") ? "" : `; got ${describeValue(url)}`;
    return [{ path: "/publicUrl", message: `must be ${PUBLIC_URL_FORM}${got}` }];
  }
}

function findUnusableFolder(folder: JsonValue | undefined, base: string): ParameterViolation[] {
  if (typeof folder !== "string" || folder === "") return [];
  const isFolder = (): boolean => {
    try {
      return statSync(resolve(base, folder)).isDirectory();
    } catch {
      return false;
    }
  };
  return isFolder()
    ? []
    : [
        {
          path: "/pluginsDir",
          message: `must be a folder with a subfolder for each preset; got ${describeValue(folder)}`,
        },
      ];
}

/** Node refuses to create a server whose headers may take longer than the whole request. */
function findContradictingTimes(http: JsonValue | undefined): ParameterViolation[] {
  if (!isObject(http)) return [];
  const {
    headersTimeoutMs = DEFAULT_LIMITS.headersTimeoutMs,
    requestTimeoutMs = DEFAULT_LIMITS.requestTimeoutMs,
  } = http;
  if (typeof headersTimeoutMs !== "number" || typeof requestTimeoutMs !== "number") return [];
  if (headersTimeoutMs <= requestTimeoutMs) return [];
  return [
    {
      path: "/http/headersTimeoutMs",
      message: `must be at most requestTimeoutMs (${requestTimeoutMs}); got ${headersTimeoutMs}`,
    },
  ];
}

/** Rethrows a parser's error as the expected form, because the parser's own message names no member. */
function expecting(form: string, parse: () => void): void {
  try {
    parse();
  } catch (cause) {
    throw new Error(`an entry is ${form}`, { cause });
  }
}
