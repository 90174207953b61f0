import { getAddress, toHex } from "viem";
import { crashAtEveryStep } from "./everyStep.ts";

crashAtEveryStep(({ stack }) => ({
  async command(run) {
    const consumer = getAddress(toHex(0xc0de_0000 + run, { size: 20 }));
    await stack.client.request("anvil_setCode", [consumer, "0x00"]);
    return { kind: "consumer", network: "sepolia", dappId: "dapp_crash", consumer };
  },
  onChain: { words: 0, functions: 0, reports: 0, transactions: 1 },
}));
