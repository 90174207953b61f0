import { useEffect, useState, useSyncExternalStore, type ReactNode } from "react";
import { Link } from "wouter";
import type { Party } from "../../../client/index.ts";
import { readableTime } from "../../../lib/time.ts";
import { announce } from "../announce.ts";

const COPIED_MS = 1500;

/** A hash or address in full, which may break anywhere. */
export function Code({ text }: { readonly text: string }) {
  return <code className="hex">{text}</code>;
}

/** A long hex string shortened in the middle, with the whole string as its title. */
export function ShortHex({ text }: { readonly text: string }) {
  return <code title={text}>{text.length > 18 ? `${text.slice(0, 10)}…${text.slice(-6)}` : text}</code>;
}

/** A text with a button that copies it. */
export function Copyable({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span className="copyable">
      <Code text={text} />
      <CopyButton text={text} what={what} />
    </span>
  );
}

/**
 * A button that copies a text; renders nothing if the browser provides no clipboard (any origin that is neither TLS nor
 * loopback).
 */
export function CopyButton({
  text,
  what,
  label = "Copy",
  autoFocus = false,
}: {
  readonly text: string | (() => Promise<string>);
  readonly what: string;
  readonly label?: string;
  readonly autoFocus?: boolean;
}) {
  const [told, tell] = useState<string>();
  useEffect(() => {
    if (told === undefined) return undefined;
    const timer = setTimeout(() => tell(undefined), COPIED_MS);
    return () => clearTimeout(timer);
  }, [told]);
  if (navigator.clipboard === undefined) return null;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      tell("Copied");
      announce("Copied.");
    } catch {
      tell("Can't copy");
    }
  };
  return (
    <button type="button" className="copy" autoFocus={autoFocus} onClick={() => void copy()}>
      {told ?? label}
      <span className="visually-hidden"> {what}</span>
    </button>
  );
}

/** Link to a transaction's page. */
export function TransactionLink({
  network,
  hash,
  children,
}: {
  readonly network: string;
  readonly hash: string;
  readonly children?: ReactNode;
}) {
  return <Link href={`/explorer/${network}/tx/${hash}`}>{children ?? <ShortHex text={hash} />}</Link>;
}

/** Link to a block's page. */
export function BlockLink({ network, number }: { readonly network: string; readonly number: string }) {
  return <Link href={`/explorer/${network}/block/${number}`}>{number}</Link>;
}

/** Link to an address's page: shows its name if it has one, otherwise the address, shortened unless `full`. */
export function PartyLink({
  network,
  party,
  full = false,
}: {
  readonly network: string;
  readonly party: Party;
  readonly full?: boolean;
}) {
  const { address, name } = party;
  const text = full ? <Code text={address} /> : <ShortHex text={address} />;
  const link = (
    <Link href={`/explorer/${network}/address/${address}`}>
      {name !== undefined && !full ? <span title={address}>{name}</span> : text}
    </Link>
  );
  if (!full || name === undefined) return link;
  return (
    <span className="named">
      <b>{name}</b> {link}
    </span>
  );
}

/** Formats coin in wei or LINK in juels: both have 18 decimals. */
export function units(amount: string, unit: string): string {
  const digits = amount.padStart(19, "0");
  const fraction = digits.slice(-18).replace(/0+$/, "");
  return `${groupDigits(digits.slice(0, -18))}${fraction === "" ? "" : `.${fraction}`} ${unit}`;
}

/** Formats a price of gas, given in wei. */
export function inGwei(wei: string): string {
  return units((BigInt(wei) * 10n ** 9n).toString(), "gwei");
}

/** Formats a part of a whole, to a tenth of a percent. */
export function percent(part: string, whole: string): string {
  const tenths = whole === "0" ? 0n : (BigInt(part) * 1000n) / BigInt(whole);
  return tenths === 0n && part !== "0" ? "< 0.1%" : `${Number(tenths) / 10}%`;
}

/** Formats a decimal number with a narrow space between groups of three digits. */
export function groupDigits(decimal: string | number): string {
  return String(decimal).replaceAll(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** "1 block", "2 blocks". */
export function count(n: number | bigint | string, noun: string): string {
  return `${groupDigits(String(n))} ${noun}${String(n) === "1" ? "" : "s"}`;
}

/** A point in time in UTC, to the second. */
export function Time({ iso }: { readonly iso: string }) {
  return <time dateTime={iso}>{readableTime(iso)}</time>;
}

/** A point in time, and how long ago it was. */
export function TimeAndAge({ iso }: { readonly iso: string }) {
  return (
    <>
      <Time iso={iso} />{" "}
      <span className="note">
        <Age iso={iso} />
      </span>
    </>
  );
}

/** How long ago something was, with the time as in {@link Time} as its title. `isShort`: "17 min. ago". */
export function Age({ iso, isShort = false }: { readonly iso: string; readonly isShort?: boolean }) {
  const now = useNow();
  return (
    <time className="age" dateTime={iso} title={readableTime(iso)}>
      {ageOf((Date.parse(iso) - now) / 1000, isShort ? shortFormat : format)}
    </time>
  );
}

const local = new Intl.DateTimeFormat("en", {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

/** Whether the reader's own clock shows UTC at a time. */
export function isUtcHere(iso: string): boolean {
  return new Date(iso).getTimezoneOffset() === 0;
}

/** A point in time on the reader's own clock, with its zone, written as in {@link Time}. */
export function LocalTime({ iso }: { readonly iso: string }) {
  const parts = Object.fromEntries(
    local.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute, second, timeZoneName } = parts;
  return <time dateTime={iso}>{`${year}-${month}-${day} ${hour}:${minute}:${second} ${timeZoneName}`}</time>;
}

/** How long it is until a time, or since it: in words that count down. */
export function Countdown({ iso }: { readonly iso: string }) {
  const seconds = Math.round((Date.parse(iso) - useNow()) / 1000);
  const text = durationOf(Math.abs(seconds));
  return <span className="age">{seconds < 0 ? `${text} ago` : `in ${text}`}</span>;
}

/** Writes a duration in its two largest units: "1 hour 5 minutes". */
export function durationOf(seconds: number): string {
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  let left = seconds;
  const parts = UNITS.slice(first).map(([unit, size]) => {
    const n = Math.floor(left / size);
    left -= n * size;
    return n === 0 ? "" : count(n, unit);
  });
  const words = parts.slice(0, 2).filter((part) => part !== "");
  return words.length === 0 ? "0 seconds" : words.join(" ");
}

const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;
const REFRESH_MS = 1_000;
const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const shortFormat = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

function ageOf(seconds: number, written: Intl.RelativeTimeFormat): string {
  const [unit, size] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? UNITS.at(-1)!;
  return Math.abs(seconds) < 5 ? "just now" : written.format(Math.round(seconds / size), unit);
}

/** One clock for all ages on a page; it stops while there are none. */
let now = Date.now();
const clocks = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  now = Date.now();
  for (const clock of clocks) clock();
}

function followClock(clock: () => void): () => void {
  clocks.add(clock);
  if (timer === undefined) {
    timer = setInterval(tick, REFRESH_MS);
    now = Date.now();
  }
  return () => {
    clocks.delete(clock);
    if (clocks.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Returns the time in milliseconds, and renders anew every second. */
export function useNow(): number {
  return useSyncExternalStore(followClock, () => now);
}
