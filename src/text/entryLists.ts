/** How command and pages compare a list that was drawn from with one that was announced, and say where an entry stands in it. */
import { describeValue } from "../lib/describeValue.ts";

/** Entries that are named where a list differs. */
const MAX_NAMED = 3;

/** Parses entries of a list: a JSON array of texts, or one to a line. */
export function parseEntries(text: string): readonly string[] {
  return parseList(text) ?? text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** Parses a JSON array of texts, as sources get lists; `undefined` if it is none. */
export function parseList(text: string): readonly string[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((one) => typeof one === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Says where a list, which may have thousands of entries, differs from an expected one; `undefined` if it doesn't.
 *
 * @param from where the expected one is from, such as a file's name
 */
export function describeDifference(
  list: readonly unknown[],
  { expected, from }: { readonly expected: readonly string[]; readonly from: string },
): string | undefined {
  const at = expected.findIndex((entry, i) => entry !== list[i]);
  if (at === -1 && list.length === expected.length) return undefined;
  const [missing, extra] = [findSurplus(expected, list), findSurplus(list, expected)];
  return [
    list.length !== expected.length && `the list has ${list.length} entries, and ${from} ${expected.length}`,
    missing.length + extra.length === 0 && `the list has the entries of ${from} in another order`,
    at !== -1 &&
      at < list.length &&
      `entry ${at + 1} of the list is ${describeValue(list[at])}, and of ${from} ${describeValue(expected[at])}`,
    missing.length > 0 && `only in ${from}: ${nameSome(missing)}`,
    extra.length > 0 && `only in the list: ${nameSome(extra)}`,
  ]
    .filter((part) => part !== false)
    .join("; ");
}

/** Returns the entries that others lack; one that is there twice counts twice. */
function findSurplus(entries: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const left = new Map<unknown, number>();
  for (const one of others) left.set(one, (left.get(one) ?? 0) + 1);
  return entries.filter((one) => {
    const count = left.get(one) ?? 0;
    left.set(one, count - 1);
    return count <= 0;
  });
}

function nameSome(entries: readonly unknown[]): string {
  const more = entries.length - MAX_NAMED;
  const named = entries.slice(0, MAX_NAMED).map(describeValue).join(", ");
  return more > 0 ? `${named} and ${more} more` : named;
}

/** Names the places of a list's entries, from 1: `entry 378`. One that is there several times has several, of which the first are named. */
export function namePlaces(list: readonly string[]): ReadonlyMap<string, string> {
  const places = new Map<string, number[]>();
  for (const [i, entry] of list.entries()) {
    const known = places.get(entry);
    if (known === undefined) places.set(entry, [i + 1]);
    else known.push(i + 1);
  }
  return new Map([...places].map(([entry, at]) => [entry, nameEntries(at)]));
}

function nameEntries(places: readonly number[]): string {
  if (places.length === 1) return `entry ${places[0]}`;
  const more = places.length - MAX_NAMED;
  return `entries ${places.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
