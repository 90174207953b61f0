import { encodeDeployData, encodeFunctionData, type Hex } from "viem";
import type { Account } from "../../src/evm/account.ts";
import type { Receipt } from "../../src/lib/nodeAnswers.ts";
import { compileSolidity } from "../support/solidity.ts";

const { abi, bytecode } = compileSolidity(
  "Emitter",
  `// SPDX-License-Identifier: MIT
pragma solidity 0.8.19;
contract Emitter {
  event Closed(uint256 indexed round, uint256 players);
  function close(uint256 round, uint256 players, uint256 count) external {
    for (uint256 i = 0; i < count; i++) emit Closed(round, players + i);
  }
}`,
);

/** Event of the contract of {@link deployEmitter}. */
export const CLOSED = "event Closed(uint256 indexed round, uint256 players)";

/** Creation code of the contract. */
export const EMITTER_CODE: Hex = encodeDeployData({ abi, bytecode });

/** Calldata that makes the contract emit `count` events of a round, with `players`, `players + 1` and so on. */
export function encodeClose(round: number, players: number, count = 1): Hex {
  const args = [BigInt(round), BigInt(players), BigInt(count)];
  return encodeFunctionData({ abi, functionName: "close", args });
}

/** Deploys the contract; returns its address. */
export async function deployEmitter(
  chain: {
    send(account: Account, call: { readonly data: Hex }): Promise<Receipt>;
    readonly viem: {
      getTransactionReceipt(of: { hash: Hex }): Promise<{ contractAddress?: Hex | null | undefined }>;
    };
  },
  account: Account,
): Promise<Hex> {
  const { transactionHash } = await chain.send(account, { data: EMITTER_CODE });
  return (await chain.viem.getTransactionReceipt({ hash: transactionHash })).contractAddress!;
}
