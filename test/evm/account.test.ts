import * as fc from "fast-check";
import { keccak256, type TransactionSerializableLegacy } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { createAccount } from "../../src/evm/account.ts";
import { toHexText } from "../../src/lib/hex.ts";

const secretKey = new Uint8Array(32).fill(5);
const viemAccount = privateKeyToAccount(toHexText(secretKey));

test("the signed bytes and their hash are those of viem's own account, whatever the length of the data", async () => {
  const account = createAccount(secretKey);
  expect(account.address).toBe(viemAccount.address);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 20_000, size: "max" }), fc.nat(), async (data, nonce) => {
      const transaction: TransactionSerializableLegacy = {
        type: "legacy",
        chainId: 80001,
        nonce,
        gasPrice: 1_000_000_000n,
        gas: 100_000n,
        to: viemAccount.address,
        data: toHexText(data),
        value: 0n,
      };
      const { raw, hash } = await account.sign(transaction);
      expect(raw).toBe(await viemAccount.signTransaction(transaction));
      expect(hash).toBe(keccak256(raw));
    }),
    { numRuns: 30, seed: 9 },
  );
});
