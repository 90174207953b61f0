import { InvalidArgumentError, type Command } from "commander";
import { MAX_OVERLAP_HOURS, OVERLAP_HOURS } from "../lib/vocabulary.ts";

/** What {@link withOverlap} adds. */
export interface OverlapFlag {
  readonly overlapHours: number;
}

/** Adds the option that says how long what a command replaces stays valid. */
export function withOverlap(command: Command): Command {
  return command.option(
    "--overlap-hours <n>",
    "hours for which the present value stays valid; 0: it ends at once",
    parseOverlap,
    OVERLAP_HOURS,
  );
}

function parseOverlap(text: string): number {
  const hours = /^[0-9]{1,3}$/.test(text) ? Number(text) : Infinity;
  if (hours > MAX_OVERLAP_HOURS)
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_OVERLAP_HOURS}.`);
  return hours;
}
