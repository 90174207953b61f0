import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { toHexText } from "../../src/lib/hex.ts";
import { FUNDED_ACCOUNTS } from "../../src/dapps/faucet.ts";
import { testAccount } from "../support/anvil.ts";

test("each account is the one of its place in Anvil's mnemonic", () => {
  expect(FUNDED_ACCOUNTS).toHaveLength(10);
  for (const [i, { address, secretKey }] of FUNDED_ACCOUNTS.entries()) {
    expect(privateKeyToAddress(secretKey)).toBe(address);
    expect(toHexText(testAccount(i).secretKey)).toBe(secretKey);
  }
});
