import { crashAtEveryStep } from "./everyStep.ts";

// The first request of a dapp: its subscriptions are made on the way.
crashAtEveryStep(() => ({
  command: () => ({ kind: "random", network: "sepolia", numWords: 1 }),
  dappId: (run) => `dapp_${run}`,
  onChain: { words: 1, functions: 0, transactions: 2 },
}));
