import { encodeFunctionData, type Hex } from "viem";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { linkTokenAbi } from "../chainlink/contracts/abi.ts";
import type { Sender } from "../evm/sender.ts";

const COIN_WEI = 10n * 10n ** 18n;
const LINK_JUELS = 100n * 10n ** 18n;
/** Leaves room for a contract whose code runs when it receives coin. */
const COIN_GAS = 100_000n;
const MINT_GAS = 200_000n;

export { FUNDED_ACCOUNTS } from "../networks/embedded/fundedAccounts.ts";

/** What the faucet gave. */
export interface FaucetGift {
  readonly coinWei: bigint;
  readonly linkJuels: bigint;
  /** Of the coin, then of the LINK. */
  readonly transactionHashes: readonly [Hex, Hex];
}

/** Gives away what costs nothing on an embedded chain: 10 coins and 100 LINK at a time. */
export interface Faucet {
  /** Rejects with {@link FaucetRefusedError} when the address takes no coin. */
  give(address: Hex): Promise<FaucetGift>;
}

/** Creates the faucet of a chain. `minter` sends as an account that has coin and may mint LINK. */
export function createFaucet({ minter, link }: { readonly minter: Sender; readonly link: Hex }): Faucet {
  return {
    async give(address) {
      const coin = await minter.send(
        { to: address, data: "0x", gas: COIN_GAS, valueWei: COIN_WEI },
        undefined,
      );
      if (!coin.succeeded) throw new FaucetRefusedError(address);
      const data = encodeFunctionData({
        abi: linkTokenAbi,
        functionName: "mint",
        args: [address, LINK_JUELS],
      });
      const minted = await minter.send({ to: link, data, gas: MINT_GAS }, undefined);
      if (!minted.succeeded) throw new FaucetRefusedError(address);
      return {
        coinWei: COIN_WEI,
        linkJuels: LINK_JUELS,
        transactionHashes: [coin.transactionHash, minted.transactionHash],
      };
    },
  };
}

/** An address accepts no coin or no LINK. */
export class FaucetRefusedError extends InvalidParameterError {
  constructor(address: Hex) {
    super([{ path: "/address", message: `${address} takes no coin or no LINK: the transaction reverted` }]);
  }
}
