import type { RunRequest } from "../run.ts";
import { portOf } from "./net/hostPolicy.ts";

/** Shorter values, and shorter pieces of a value, are not masked: they would be found everywhere. */
const MIN_MASKED_CHARS = 8;
const MASK = "***";

/** A request that a source wants to make. */
interface Outgoing {
  readonly url: URL;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | null;
  /** Whether the operator admits the host and port although they may not be public: then over http, too. Default false. */
  readonly isAdmitted?: boolean;
}

/** Why a run has failed: for everybody, and for its author alone. */
interface Breach {
  readonly message: string;
  readonly detail: string;
}

/** Keeps a run's secrets from where they don't belong. */
export interface SecretGuard {
  /**
   * Returns a text without the values and without pieces of 8 or more characters of them, also in lower and upper case, as JSON,
   * percent-encoded, in base64 and in hex, each also back to front.
   */
  mask(this: void, text: string): string;
  /** Returns why a request may not be made; `undefined` if it may. A run that is told so has failed: see {@link breach}. */
  refuse(this: void, request: Outgoing): string | undefined;
  /** Returns why a module may not be imported: a URL's server and those that it leads to, or the registry, would see what is in it. */
  refuseImport(this: void, specifier: string): string | undefined;
  /** Returns why the run has failed, whatever it returns. */
  breach(this: void): Breach | undefined;
}

/**
 * Creates the guard of a run. As soon as one of its secrets has a list of hosts, the source reaches only hosts on such lists, by https and
 * at the ports on them: whatever it makes of a value, others can't receive or read it.
 */
export function createSecretGuard({
  source = "",
  secrets = {},
  allowedHosts = {},
}: Pick<RunRequest, "secrets" | "allowedHosts"> & Partial<Pick<RunRequest, "source">>): SecretGuard {
  const values = Object.entries(secrets)
    .filter(([, { length }]) => length >= MIN_MASKED_CHARS)
    .map(([name, value]) => ({ name, forms: formsOf(value) }));
  const lists = new Map(Object.entries(allowedHosts).map(([name, hosts]) => [name, new Set(hosts)]));
  const hosts = new Set([...lists.values()].flatMap((list) => [...list]));
  let pieces: ReadonlySet<string> | undefined;
  let breached: Breach | undefined;

  function mask(text: string): string {
    if (values.length === 0) return text;
    pieces ??= piecesOf(values.flatMap(({ forms }) => forms));
    let masked = "";
    let kept = 0;
    let hidden = 0;
    for (let at = 0; at + MIN_MASKED_CHARS <= text.length; at += 1) {
      if (!pieces.has(text.slice(at, at + MIN_MASKED_CHARS))) continue;
      if (at > hidden || hidden === 0) masked += `${text.slice(kept, at)}${MASK}`;
      hidden = at + MIN_MASKED_CHARS;
      kept = hidden;
    }
    return masked + text.slice(kept);
  }

  /** Records why the run has failed. The hosts are for its author: others may read the message on chain. */
  function fail(detail: string): string {
    breached ??= {
      message: "The source failed: it tried to reach a host to which its secrets may not be sent",
      detail: mask(detail),
    };
    return breached.message;
  }

  return {
    mask,
    refuse({ url, headers = [], body, isAdmitted = false }) {
      if (lists.size === 0) return undefined;
      const host = url.hostname.toLowerCase();
      const names = [`${host}:${portOf(url)}`, ...(url.port === "" ? [host] : [])];
      const isOn = (list: ReadonlySet<string> | undefined): boolean => names.some((name) => list?.has(name));
      if (!isOn(hosts))
        return fail(
          `Its secrets may be sent to ${[...hosts].join(", ")} only, and it sent a request to ${url.host}. Without a port, a host stands for the usual one.`,
        );
      if (url.protocol !== "https:" && !isAdmitted)
        return fail(`Its secrets may be sent by https only, and it sent a request to ${url.origin}.`);
      const bytes = Buffer.from(body ?? []);
      const text = [url.href, ...headers.flat(), bytes.toString("latin1"), bytes.toString()].join("\n");
      const sent = values.find(
        ({ name, forms }) =>
          lists.has(name) && !isOn(lists.get(name)) && forms.some((form) => text.includes(form)),
      );
      return sent && fail(`Its secret ${sent.name} may not be sent to ${url.host}.`);
    },
    refuseImport(specifier) {
      if (lists.size === 0) return undefined;
      // Parsed like the loader does: it ignores blanks around a URL and line breaks within.
      if (/^https?:$/.test(URL.parse(specifier)?.protocol ?? ""))
        return fail("With a secret that has hosts, a source can't import modules by their URL.");
      // The registry sees the name, and whoever owns the package how often it is downloaded.
      if (specifier.startsWith("npm:") && !source.includes(specifier))
        return fail(
          'With a secret that has hosts, a source imports only packages that it names: write import("npm:…").',
        );
      return undefined;
    },
    breach: () => breached,
  };
}

/** Returns the forms in which a source or a server is likely to show a value, also back to front. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset));
  const forms = [
    value,
    value.toLowerCase(),
    value.toUpperCase(),
    JSON.stringify(value).slice(1, -1),
    value.replaceAll("\\", "\\\\"),
    encodeURIComponent(value.toWellFormed()),
    new URLSearchParams([["", value]]).toString().slice(1),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    bytes.toString("latin1"),
    hex,
    hex.toUpperCase(),
  ];
  return [...new Set(forms.flatMap((form) => [form, form.split("").toReversed().join("")]))];
}

/** Returns what base64 makes of bytes that follow `offset` others, without the characters that hold bits of their neighbours. */
function base64At(bytes: Uint8Array, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const end = (offset + bytes.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(Math.ceil((offset * 4) / 3), end);
}

function piecesOf(forms: readonly string[]): ReadonlySet<string> {
  const pieces = new Set<string>();
  for (const form of forms)
    for (let at = 0; at + MIN_MASKED_CHARS <= form.length; at += 1)
      pieces.add(form.slice(at, at + MIN_MASKED_CHARS));
  return pieces;
}
