/** Minimum and maximum number of nodes: OCR2Base `setConfig` requires n > 3f with f at least 1, and `maxNumOracles` is 31. */
export const MIN_NODES = 4;
export const MAX_NODES = 31;

/** Returns f, the number of `nodes` that may be faulty: ⌊(n − 1) / 3⌋. */
export function faultyNodesOf(nodes: number): number {
  return Math.floor((nodes - 1) / 3);
}

/** Returns the exact number of signatures a report needs: ⌊(n + f) / 2⌋ + 1 (OCR2Base `transmit`, `expectedNumSignatures`). */
export function signaturesOf(nodes: number, faulty: number): number {
  return Math.floor((nodes + faulty) / 2) + 1;
}
