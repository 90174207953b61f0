import { crashAtEveryStep } from "./everyStep.ts";

// A dapp's first request, during which its subscriptions are created. With VRF v2.5, as its subscription ids depend on the previous block.
crashAtEveryStep(
  () => ({
    command: () => ({ kind: "random", network: "sepolia", numWords: 1 }),
    dappId: (run) => `dapp_${run}`,
    onChain: { words: 1, functions: 0, reports: 0, transactions: 2 },
  }),
  "v2.5",
);
