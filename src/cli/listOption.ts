import { Option } from "commander";

/** Creates an option that may be repeated, whose values become a list; `none` says what an empty one means. */
export function listOption(flags: string, description: string, none = "none"): Option {
  return new Option(flags, description)
    .default([], none)
    .argParser((value, all: readonly string[]) => [...all, value]);
}
