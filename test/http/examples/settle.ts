/** Hashes and addresses, ids, keys, times and numbers: what is another one in each recording. */
const VARYING =
  /0x[\da-f]{8,}|\bsession_[\da-f]{12}\b|[\w+/=-]{20,}|\b(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat), \d\d [A-Z][a-z]{2}\b|\d[\d.:TZ-]*/gi;
/** Members that depend on the machine or on how fast it is, or that are part of a key. */
const FOREIGN = ["layers", "ending", "requestState"];

/** Returns a recording with the values of the former one wherever no more than a hash, id, key, time or number differs. */
export function settle(former: unknown, recorded: unknown): unknown {
  if (typeof former !== typeof recorded || former === null || recorded === null) return recorded;
  if (typeof recorded === "number") return former;
  if (typeof recorded === "string") return formOf(former as string) === formOf(recorded) ? former : recorded;
  if (Array.isArray(recorded))
    return recorded.map((item, index) => settle((former as readonly unknown[])[index], item));
  if (typeof recorded !== "object") return recorded;
  const before = former as Readonly<Record<string, unknown>>;
  // A run has the result of its request once that has ended.
  const foreign = "requestState" in recorded ? [...FOREIGN, "result"] : FOREIGN;
  return Object.fromEntries(
    Object.entries(recorded).map(([name, value]) => [
      name,
      foreign.includes(name) && name in before ? before[name] : settle(before[name], value),
    ]),
  );
}

const formOf = (text: string): string => text.replaceAll(VARYING, "#");
