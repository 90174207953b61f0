import { pbkdf2Sync } from "node:crypto";
import type { Hex } from "viem";
import { HDKey } from "viem/accounts";
import { createAccount } from "../../evm/account.ts";
import { toHexText } from "../../lib/hex.ts";

/** An account that holds coin from a chain's first block, with a publicly known key. */
export interface FundedAccount {
  readonly address: Hex;
  readonly secretKey: Hex;
}

const MNEMONIC = "test test test test test test test test test test test junk";

/**
 * The accounts that Anvil funds with 10,000 coins each: the first ten of its mnemonic, at `m/44'/60'/0'/0/`. Hardhat uses the same ones. Their
 * keys are no secrets, and worth nothing on any other chain.
 */
export const FUNDED_ACCOUNTS: readonly FundedAccount[] = Array.from({ length: 10 }, (_, i) => {
  // BIP-39 derives the seed with the salt `mnemonic` and no passphrase.
  const seed = pbkdf2Sync(MNEMONIC, "mnemonic", 2_048, 64, "sha512");
  const { privateKey } = HDKey.fromMasterSeed(seed).derive(`m/44'/60'/0'/0/${i}`);
  return { address: createAccount(privateKey!).address, secretKey: toHexText(privateKey!) };
});
