import type { Command } from "commander";
import { quoteForShell } from "../lib/quoteForShell.ts";

/**
 * Returns the command that lists the next page: the one that ran, with the words and flags given on its command line, quoted for a POSIX shell,
 * and the cursor in place of any earlier one. Flags that come from the environment apply again without being repeated.
 */
export function nextPage(
  command: Command,
  cursor: { readonly flag: `--${string}`; readonly value: string },
): string {
  const repeated = command.options
    .filter(({ long }) => long !== cursor.flag)
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli")
    .flatMap((option) => {
      const value: unknown = command.getOptionValue(option.attributeName());
      return value === true ? [option.long!] : [option.long!, quote(String(value))];
    });
  return [
    "npx",
    ...namesOf(command),
    ...command.args.map(quote),
    ...repeated,
    cursor.flag,
    quote(cursor.value),
  ].join(" ");
}

/** Returns the names from the program's down to the command's. */
function namesOf(command: Command): readonly string[] {
  return [...(command.parent === null ? [] : namesOf(command.parent)), command.name()];
}

/** Quotes a word for a POSIX shell, unless no shell reads anything into it. */
function quote(word: string): string {
  return /^[\w%+,./:=@-]+$/.test(word) ? word : quoteForShell(word);
}
