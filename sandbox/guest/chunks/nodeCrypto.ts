import { nodeError } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { createAgreements } from "../node/crypto/agree.ts";
import { type BufferType, createByteTools } from "../node/crypto/bytes.ts";
import { createCiphers } from "../node/crypto/cipher.ts";
import { createDerivations } from "../node/crypto/derive.ts";
import { createDigests } from "../node/crypto/digest.ts";
import { createKeys } from "../node/crypto/key.ts";
import { CURVES, HASHES } from "../node/crypto/names.ts";
import { createRandom } from "../node/crypto/random.ts";
import { createSigning } from "../node/crypto/sign.ts";

/** Creates `node:crypto`: the host's natives do the work, synchronously. */
export default function nodeCryptoChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load, native } = internals;
  const { Buffer } = load("buffer") as unknown as { Buffer: BufferType };
  const { crypto: webcrypto } = load("crypto") as {
    crypto: { subtle: unknown; getRandomValues(array: unknown): unknown };
  };
  const tools = createByteTools(native, Buffer);
  const keys = createKeys(internals, tools);
  const missing = (name: string) => {
    class Missing {
      constructor() {
        throw new Error(`node:crypto: ${name} is not available in this sandbox`);
      }
    }
    return Object.defineProperty(Missing, "name", { value: name });
  };
  const refusing = (name: string) => (): never => {
    throw nodeError("ERR_NOT_IMPLEMENTED", `Not implemented: crypto.${name}`);
  };
  const names = {
    Certificate: missing("Certificate"),
    X509Certificate: missing("X509Certificate"),
    ...keys.names,
    ...createDigests(internals, tools, keys),
    ...createCiphers(internals, tools, keys),
    ...createRandom(native, Buffer),
    ...createDerivations(tools, keys),
    ...createSigning(internals, tools, keys),
    ...createAgreements(native, tools, keys),
    getHashes: () => [...HASHES],
    getCurves: () => [...CURVES],
    getFips: () => false,
    setFips: (isOn: unknown): void => {
      if (isOn) throw new Error("FIPS mode is not supported in Deno.");
    },
    setEngine: refusing("setEngine"),
    secureHeapUsed: refusing("secureHeapUsed"),
    getRandomValues: (array: unknown) => webcrypto.getRandomValues(array),
    webcrypto,
    subtle: webcrypto.subtle,
    constants: JSON.parse(native("cryptoConstants", {}) as string) as object,
  };
  return { ...names, default: names };
}
