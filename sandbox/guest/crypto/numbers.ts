/**
 * The numbers of Web Crypto's parameters, as Deno converts them: each operation in its own way, before it looks at anything else.
 */

/** How an operation converts a member; `undefined` is a member that isn't given. */
type ConvertNumber = (value: unknown, name: string, wrong: (text: string) => Error) => number | undefined;

const LARGEST = 2 ** 32 - 1;

const ranged =
  (text: string, isOptional: boolean): ConvertNumber =>
  (value, name, wrong) => {
    if (isOptional && value === null) return undefined;
    const number = Math.trunc(Number(value));
    if (Number.isFinite(number) && number >= 0 && number <= LARGEST) return number;
    throw wrong(`'${name}' is outside ${text}`);
  };
const enforced = ranged("the accepted range for [EnforceRange] unsigned long", false);
const wrapped: ConvertNumber = (value) => (value === null ? undefined : Number(value) >>> 0);

const CIPHERED: Readonly<Record<string, ConvertNumber>> = {
  length: ranged("the [0, 2**32-1] range", false),
  tagLength: ranged("the [0, 2**32-1] range", true),
};
const SIGNED = { saltLength: enforced, outputLength: enforced };
const MADE = { length: wrapped, modulusLength: wrapped };
/** The members by operation. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, ConvertNumber>>>> = {
  __proto__: null as never,
  encrypt: CIPHERED,
  decrypt: CIPHERED,
  wrapKey: CIPHERED,
  unwrapKey: CIPHERED,
  sign: SIGNED,
  verify: SIGNED,
  deriveBits: { iterations: enforced },
  deriveKey: { iterations: enforced },
  generateKey: MADE,
  importKey: MADE,
};

/** Returns an algorithm with its numbers converted; `wrong` makes the error for one that is out of range. */
export function withNumbers(op: string, algorithm: unknown, wrong: (text: string) => Error): unknown {
  const members = MEMBERS[op];
  if (members === undefined || typeof algorithm !== "object" || algorithm === null) return algorithm;
  const made: Record<string, unknown> = {};
  for (const key in algorithm) made[key] = (algorithm as Record<string, unknown>)[key];
  for (const [name, convert] of Object.entries(members)) {
    if (made[name] === undefined) continue;
    const number = convert(made[name], name, wrong);
    if (number === undefined) delete made[name];
    else made[name] = number;
  }
  // Optional bytes may be null, too.
  if (members === CIPHERED)
    for (const name of ["additionalData", "label"]) if (made[name] === null) delete made[name];
  return made;
}
