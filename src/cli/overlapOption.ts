import type { Command } from "commander";
import { MAX_OVERLAP_HOURS, OVERLAP_HOURS } from "../domain/vocabulary.ts";
import { wholeNumber } from "./parseNumber.ts";

/** What {@link withOverlap} adds. */
export interface OverlapFlag {
  readonly overlapHours: number;
}

/** Adds the option that says how long what a command replaces stays valid. */
export function withOverlap(command: Command): Command {
  return command.option(
    "--overlap-hours <n>",
    "hours for which the present value stays valid; 0: it ends at once",
    wholeNumber(0, MAX_OVERLAP_HOURS),
    OVERLAP_HOURS,
  );
}
