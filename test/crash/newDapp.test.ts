import { crashAtEveryStep } from "./everyStep.ts";

// The first request of a dapp: its subscriptions are made on the way. With VRF v2.5, as an id there depends on the block before.
crashAtEveryStep(
  () => ({
    command: () => ({ kind: "random", network: "sepolia", numWords: 1 }),
    dappId: (run) => `dapp_${run}`,
    onChain: { words: 1, functions: 0, transactions: 2 },
  }),
  "v2.5",
);
