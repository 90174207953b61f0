import { encodeFunctionData, type Hex } from "viem";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { linkTokenAbi } from "../chainlink/contracts/abi.ts";
import type { Sender } from "../evm/sender.ts";
import { createAccount } from "../evm/account.ts";
import { fromHexText } from "../lib/hex.ts";

const COIN_WEI = 10n * 10n ** 18n;
const LINK_JUELS = 100n * 10n ** 18n;
/** Leaves room for a contract whose code runs when it receives coin. */
const COIN_GAS = 100_000n;
const MINT_GAS = 200_000n;

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

/** An account that holds coin from a chain's first block, with a publicly known key. */
interface FundedAccount {
  readonly address: Hex;
  readonly secretKey: Hex;
}

/** Deriving them from the mnemonic would take a quarter of a second. */
const SECRET_KEYS: readonly Hex[] = [
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
  "0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
  "0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
  "0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
  "0x4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
  "0xdbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
  "0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
];

/**
 * The accounts that Anvil funds with 10,000 coins each: the first ten of its mnemonic, "test test test test test test test test test test
 * test junk", at `m/44'/60'/0'/0/`. Hardhat uses the same ones. Their keys are no secrets, and worth nothing on any other chain.
 */
export const FUNDED_ACCOUNTS: readonly FundedAccount[] = SECRET_KEYS.map((secretKey) => ({
  address: createAccount(fromHexText(secretKey)).address,
  secretKey,
}));
