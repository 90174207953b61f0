import type { NetworkConfigVars } from "../../../src/dapps/configVars.ts";

export const ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
/** A dapp's values of one network. */
export const VARS = {
  network: "sepolia",
  title: "Ethereum Sepolia",
  chainId: 11_155_111,
  contracts: { vrfCoordinator: ADDRESS, functionsRouter: ADDRESS },
  keyHash: `0x${"12".repeat(32)}`,
  vrfSubscriptionId: "7",
  functionsSubscriptionId: "8",
  donId: "don",
  donIdBytes32: `0x${"00".repeat(32)}`,
  consumers: [],
} as const satisfies NetworkConfigVars;
