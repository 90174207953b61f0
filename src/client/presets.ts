// Written by `tyche client generate` from GET /api/presets.
import type { Decimal } from "./types.ts";

/** Parameters and value of each preset. */
export type Presets = {
  /** Gives 0 (Tails, false) or 1 (Heads, true), each with probability 1/2. */
  coinflip: {
    params: Record<string, never>;
    value: boolean;
  };
  /** Draws numberOfWinners entries of list without replacement, in the order in which they were drawn: "Winners: " and the entries, exactly as given, separated by a comma and a space. Equal entries are separate tickets. All entries are on chain for all to see: use ticket numbers for people. */
  lotto: {
    params: {
      /** How many entries are drawn; at most the length of list. Default "1". */
      numberOfWinners?: Decimal;
      /** The participants or options, on chain for all to see: use ticket numbers for people. */
      list: readonly string[];
    };
    value: readonly string[];
  };
  /** Rolls numDice dice that each show 1 to numFaces with the same probability, independently: [3,17,20]. */
  nDice: {
    params: {
      /** Number of faces of each die. Default "20". */
      numFaces?: Decimal;
      /** Number of dice rolled. Default "10". */
      numDice?: Decimal;
    };
    value: readonly number[];
  };
  /** Gives a whole number from min to max, both included, each with the same probability. The result is two's complement. */
  range: {
    params: {
      /** Least number that can be drawn. Default "1". */
      min?: Decimal;
      /** Greatest number that can be drawn. Default "10". */
      max?: Decimal;
    };
    value: string;
  };
};
