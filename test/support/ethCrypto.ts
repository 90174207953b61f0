import { createRequire } from "node:module";
import type { Hex } from "viem";

const load = createRequire(createRequire(import.meta.url).resolve("@chainlink/functions-toolkit"));
const ethCrypto = load("eth-crypto") as {
  encryptWithPublicKey(key: string, message: string): Promise<object>;
  cipher: { stringify(encrypted: object): string };
};

/** Encrypts to the DON's key, with what functions-toolkit 0.3.2 encrypts with. */
export async function sealEcies(donPublicKey: Hex, message: string): Promise<Hex> {
  return `0x${ethCrypto.cipher.stringify(await ethCrypto.encryptWithPublicKey(donPublicKey.slice(2), message))}`;
}
