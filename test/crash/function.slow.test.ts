import { crashAtEveryStep } from "./everyStep.ts";

crashAtEveryStep(() => ({
  command: (run) => ({
    kind: "function",
    network: "sepolia",
    source: "return Buffer.from(args[0])",
    args: [String(run)],
    returnType: "string",
  }),
  onChain: { words: 0, functions: 1, reports: 0, transactions: 1 },
}));
