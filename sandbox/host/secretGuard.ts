import type { RunRequest } from "../run.ts";

/** Shorter values are not masked: they would be found everywhere. */
const MIN_MASKED_CHARS = 8;
/** Shortest beginning of a value that is cut from the end of a text which was cut there. */
const MIN_BEGINNING_CHARS = 4;
const MASK = "***";

/** A request that a source wants to make. */
interface Outgoing {
  readonly url: URL;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: Uint8Array | null;
}

/** Keeps a run's secrets from where they don't belong. */
export interface SecretGuard {
  /**
   * Returns a text without the values, also as JSON, percent-encoded, in base64 and in hex.
   *
   * @param isCut whether the text was cut, so that its end may be the beginning of a value.
   */
  mask(this: void, text: string, isCut?: boolean): string;
  /** Returns why a request may not be made; `undefined` if it may. Whoever is told so once has failed: see {@link breach}. */
  refuse(this: void, request: Outgoing): string | undefined;
  /** Returns why the run has failed, whatever it returns. */
  breach(this: void): string | undefined;
}

/**
 * Creates the guard of a run. As soon as one of its secrets has a list of hosts, the source reaches only hosts on such lists: whatever it
 * makes of a value, others can't receive it.
 */
export function createSecretGuard({
  secrets = {},
  allowedHosts = {},
}: Pick<RunRequest, "secrets" | "allowedHosts">): SecretGuard {
  const values = Object.entries(secrets)
    .filter(([, { length }]) => length >= MIN_MASKED_CHARS)
    .map(([name, value]) => ({ name, forms: formsOf(value) }));
  // A longer one first: it may hold a shorter one.
  const forms = values.flatMap((value) => value.forms).toSorted((a, b) => b.length - a.length);
  const lists = new Map(Object.entries(allowedHosts).map(([name, hosts]) => [name, new Set(hosts)]));
  const hosts = new Set([...lists.values()].flatMap((list) => [...list]));
  let breached: string | undefined;

  function reasonAgainst({ url, headers = [], body }: Outgoing): string | undefined {
    const host = url.hostname.toLowerCase();
    if (!hosts.has(host))
      return `its secrets may be sent to ${[...hosts].join(", ")} only, and it sent a request to ${host}`;
    const text = [url.href, ...headers.flat(), Buffer.from(body ?? []).toString("latin1")].join("\n");
    const sent = values.find(
      ({ name, forms: own }) =>
        lists.get(name)?.has(host) === false && own.some((form) => text.includes(form)),
    );
    return sent && `its secret ${sent.name} may not be sent to ${host}`;
  }

  return {
    mask(text, isCut = false) {
      let masked = text;
      for (const form of forms) masked = masked.replaceAll(form, MASK);
      if (!isCut) return masked;
      const ends = forms.map((form) => beginningAtEnd(masked, form));
      return masked.slice(0, masked.length - Math.max(0, ...ends));
    },
    refuse(request) {
      if (lists.size === 0) return undefined;
      const reason = reasonAgainst(request);
      if (reason !== undefined) breached ??= `The source failed: ${reason}`;
      return reason;
    },
    breach: () => breached,
  };
}

/** The forms in which a source or a server is likely to show a value. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString("hex");
  return [
    ...new Set([
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value.toWellFormed()),
      bytes.toString("base64").replace(/=+$/, ""),
      bytes.toString("base64url"),
      bytes.toString("latin1"),
      hex,
      hex.toUpperCase(),
    ]),
  ];
}

/** Returns the length of the longest beginning of a value that a text ends with. */
function beginningAtEnd(text: string, value: string): number {
  for (let length = Math.min(value.length - 1, text.length); length >= MIN_BEGINNING_CHARS; length -= 1)
    if (text.endsWith(value.slice(0, length))) return length;
  return 0;
}
