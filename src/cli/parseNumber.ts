import { InvalidArgumentError } from "commander";

/** Creates the parser of a whole number in decimal digits. It throws commander's own error for anything else. */
export function wholeNumber(from: number, to = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = to === Number.MAX_SAFE_INTEGER ? `, at least ${from}` : ` from ${from} to ${to}`;
  return (text) => {
    const number = /^[0-9]{1,16}$/.test(text) ? Number(text) : NaN;
    if (number >= from && number <= to) return number;
    throw new InvalidArgumentError(`It must be a whole number${range}.`);
  };
}

/** Parses a block's number. Throws commander's own error for anything else. */
export function parseBlock(text: string): bigint {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a block number.");
  return BigInt(text);
}
