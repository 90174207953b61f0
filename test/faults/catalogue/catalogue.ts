import type { Fault } from "../fault.ts";
import { CHAIN_FAULTS } from "./chains.ts";
import { MONEY_FAULTS } from "./money.ts";
import { PROCESS_FAULTS } from "./processes.ts";
import { RESOURCE_FAULTS } from "./resources.ts";

/** Every fault injected into a service under load, in the order of the table in `docs/faults.md`. */
export const FAULTS: readonly Fault[] = [
  ...PROCESS_FAULTS,
  ...CHAIN_FAULTS,
  ...MONEY_FAULTS,
  ...RESOURCE_FAULTS,
];
