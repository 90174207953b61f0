/**
 * Gas of calls on contracts of one's own with VRF v2, request and answer together: what gas snapshots measure, a mean where proofs take more
 * or fewer tries. VRF v2.5 takes 2 to 8 % more. A chain that charges for the data of its transactions, such as a rollup, adds that.
 */
export const CALL_GAS = {
  "a coinflip alone": 225_525n,
  "a coinflip, one of ten on a proof": 24_190n,
  "a lotto of 50 alone": 235_519n,
  "a random number": 161_646n,
  "a function": 327_521n,
} as const;
