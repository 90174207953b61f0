import type { RunRequest } from "../run.ts";
import { portOf } from "./net/hostPolicy.ts";

/** Shorter values, and shorter pieces of a value, are not masked: they would be found everywhere. */
const MIN_MASKED_CHARS = 8;
const MASK = "***";

/** A request that a source wants to make. */
interface Outgoing {
  readonly url: URL;
  readonly method: string;
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
   * Returns a text without the values and without pieces of 8 or more characters of them, also in lower and upper case, in base64 and in
   * hex, each also as JSON, percent-encoded, and back to front.
   */
  mask(this: void, text: string): string;
  /** Returns why a request may not be made; `undefined` if it may. A run that is told so has failed: see {@link breach}. */
  refuse(this: void, request: Outgoing): string | undefined;
  /** Returns why a module may not be imported: the specifier itself would reach its server, the servers it redirects to, or the registry. */
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
    const back = findHidden(reverse(text)).toReversed();
    const isHidden = findHidden(text).map((hidden, at) => hidden || back[at]!);
    let masked = "";
    for (let at = 0, end; at < text.length; at = end) {
      end = isHidden.indexOf(1 - isHidden[at]!, at);
      if (end < 0) end = text.length;
      masked += isHidden[at] === 1 ? MASK : text.slice(at, end);
    }
    return masked;
  }

  /** Returns for each character 1 if it belongs to a piece of a value, 0 otherwise. */
  function findHidden(text: string): Uint8Array {
    pieces ??= piecesOf(values.flatMap(({ forms }) => forms));
    const isHidden = new Uint8Array(text.length);
    for (const { shown, starts } of readingsOf(text))
      for (let at = 0, end; (end = at + MIN_MASKED_CHARS) <= shown.length; at += 1)
        if (pieces.has(shown.slice(at, end))) isHidden.fill(1, starts[at], starts[end]);
    return isHidden;
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
    refuse({ url, method, headers = [], body, isAdmitted = false }) {
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
      const parts = [url.href, method, ...headers.flat(), bytes.toString("latin1"), bytes.toString()];
      const text = parts.join("\n");
      const readings = [text, reverse(text)].flatMap(readingsOf);
      const sent = values.find(
        ({ name, forms }) =>
          lists.has(name) &&
          !isOn(lists.get(name)) &&
          readings.some(({ shown }) => forms.some((form) => shown.includes(form))),
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

/**
 * Returns how many characters a result shows of a secret: of the longest value that is in it, or the fewest that are masked if it has a piece
 * of one that a console would not show; 0 otherwise.
 */
export function countShownChars(result: Uint8Array, values: readonly string[]): number {
  const bytes = Buffer.from(result);
  const shown = values.filter((value) => value !== "" && bytes.includes(value));
  const text = bytes.toString("latin1");
  const isMasked = createSecretGuard({ secrets: Object.fromEntries(values.entries()) }).mask(text) !== text;
  return Math.max(isMasked ? MIN_MASKED_CHARS : 0, ...shown.map(({ length }) => length));
}

/** Returns the forms in which a source or a server is likely to show a value, apart from what {@link readingsOf} undoes. */
function formsOf(value: string): readonly string[] {
  const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
  const plain = [value, value.toLowerCase(), value.toUpperCase()].flatMap((text) => [text, latin1(text)]);
  // `btoa` takes Latin-1, everything else encodes UTF-8.
  const encoded = [Buffer.from(value), Buffer.from(value, "latin1")].flatMap((bytes) => {
    const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset));
    const base64url = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
    const hex = bytes.toString("hex");
    return [...base64, ...base64url, hex, hex.toUpperCase()];
  });
  return [...new Set([...plain, ...plain.map((text) => text.replaceAll(" ", "+")), ...encoded])];
}

/** A text as somebody reads it. */
interface Reading {
  readonly shown: string;
  /** Where each of its characters begins in the text, and where the last one ends. */
  readonly starts: Uint32Array;
}

/** Escapes of JSON, with those that JavaScript and PHP add; and of URLs, each for a byte. */
const ESCAPES = [/\\(?:u[\da-f]{4}|x[\da-f]{2}|[^ux])/gi, /%[\da-f]{2}/gi];
const NAMED_ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Returns a text as it stands, and with its escapes undone. */
function readingsOf(text: string): readonly Reading[] {
  const escaped = ESCAPES.map((escapes) => [...text.matchAll(escapes)]).filter(({ length }) => length > 0);
  return [[], ...escaped].map((escapes) => {
    const starts = new Uint32Array(text.length + 1);
    let shown = "";
    let at = 0;
    function keepUntil(end: number): void {
      const first = shown.length;
      shown += text.slice(at, end);
      for (let i = first; i < shown.length; i += 1) starts[i] = at + i - first;
    }
    for (const { 0: escape, index } of escapes) {
      keepUntil(index);
      starts[shown.length] = index;
      shown += unescape(escape);
      at = index + escape.length;
    }
    keepUntil(text.length);
    starts[shown.length] = text.length;
    return { shown, starts };
  });
}

function unescape(escape: string): string {
  if (escape.length > 2) return String.fromCharCode(Number.parseInt(escape.replace(/^\W[ux]?/i, ""), 16));
  return NAMED_ESCAPES[escape[1]!] ?? escape[1]!;
}

const reverse = (text: string): string => text.split("").toReversed().join("");

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
