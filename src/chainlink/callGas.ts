/**
 * Gas of calls on contracts of one's own with VRF v2, request and answer together: what gas snapshots measure, a mean where proofs take more
 * or fewer tries. VRF v2.5 takes 2 to 8 % more. A chain that charges for the data of its transactions, such as a rollup, adds that.
 */
export const CALL_GAS = {
  "a coinflip alone": 224_145n,
  "a coinflip, one of ten on a proof": 22_738n,
  "a lotto of 50 alone": 240_374n,
  "a random number": 160_955n,
  "a function": 327_521n,
} as const;
