import { numberToBytes } from "viem";
import { crashAtEveryStep } from "./everyStep.ts";

// What the preset's source needs where the test's oracle runs it.
Object.assign(globalThis, {
  Functions: { encodeUint256: (value: bigint) => numberToBytes(value, { size: 32 }) },
});

crashAtEveryStep(() => ({
  command: () => ({ kind: "preset", network: "sepolia", preset: "coinflip", params: {} }),
  onChain: { words: 1, functions: 1, transactions: 1 },
}));
