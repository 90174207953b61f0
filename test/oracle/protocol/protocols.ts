import { agree } from "../../../src/oracle/protocol/agree.ts";
import { DerivedRound } from "../../../src/oracle/protocol/derivedRound.ts";
import { Round } from "../../../src/oracle/protocol/round.ts";
import type { Protocol } from "./world.ts";

/** The protocol for results that nodes observe. */
export const ROUND: Protocol = { Round, agree };
/** The protocol for results that nodes derive from the chain. */
export const DERIVED: Protocol = { Round: DerivedRound, isDerived: true, agree };
