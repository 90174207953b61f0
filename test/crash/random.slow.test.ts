import { crashAtEveryStep } from "./everyStep.ts";

crashAtEveryStep(() => ({
  command: () => ({ kind: "random", network: "sepolia", numWords: 1 }),
  onChain: { words: 1, functions: 0, reports: 0, transactions: 1 },
}));
