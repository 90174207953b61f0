import { numberToBytes } from "viem";
import { crashAtEveryStep } from "./everyStep.ts";

// The globals that the preset's source needs in the test's oracle.
Object.assign(globalThis, {
  Functions: { encodeUint256: (value: bigint) => numberToBytes(value, { size: 32 }) },
});

crashAtEveryStep(() => ({
  preset: "coinflip",
  command: () => ({ kind: "preset", network: "sepolia", preset: "coinflip", params: {} }),
  onChain: { words: 1, functions: 0, reports: 1, transactions: 1 },
}));
