import type { Hex } from "viem";
import type { Message, Proposal, Reveal } from "./message.ts";

/** Computes the commitment to a reveal. */
export type CommitmentOf = (reveal: Reveal) => Hex;

/**
 * Whether two messages about one request prove that their sender is faulty: an honest node commits to one observation, makes one proposal
 * per rank and signs one report for it.
 */
export function isConflict(first: Message, second: Message, commitmentOf: CommitmentOf): boolean {
  if (first.sender !== second.sender) return false;
  const fixed = [first, second].map((message) => fixedBy(message, commitmentOf));
  if (fixed[0] !== undefined && fixed[1] !== undefined) return fixed[0] !== fixed[1];
  if (first.kind === "proposal" && second.kind === "proposal")
    return first.rank === second.rank && !isSameBundle(first, second, commitmentOf);
  if (first.kind === "endorsement" && second.kind === "endorsement")
    return first.rank === second.rank && first.digest !== second.digest;
  return false;
}

/** Returns the commitment that a message fixes, if any. */
export function fixedBy(message: Message, commitmentOf: CommitmentOf): Hex | undefined {
  if (message.kind === "commit") return message.commitment;
  return message.kind === "reveal" ? commitmentOf(message) : undefined;
}

function isSameBundle(first: Proposal, second: Proposal, commitmentOf: CommitmentOf): boolean {
  const describe = ({ reveals }: Proposal): string =>
    reveals.map(({ message }) => `${message.sender} ${commitmentOf(message)}`).join();
  return describe(first) === describe(second);
}
