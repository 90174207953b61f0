import { nodeError } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { createAgreements } from "./agree.ts";
import { type BufferType, createByteTools } from "./bytes.ts";
import { createCiphers } from "./cipher.ts";
import { createDerivations } from "./derive.ts";
import { createDigests } from "./digest.ts";
import { createKeys } from "./key.ts";
import { CURVES, HASHES } from "./names.ts";
import { createRandom } from "./random.ts";
import { createSigning } from "./sign.ts";

/** Creates `node:crypto`: the host's natives do the work, synchronously. */
export function createCrypto(internals: Internals): Readonly<Record<string, unknown>> {
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
    setFips: (): never => {
      throw nodeError("ERR_NOT_IMPLEMENTED", "Not implemented: crypto.setFips");
    },
    setEngine: (): never => {
      throw nodeError("ERR_NOT_IMPLEMENTED", "Not implemented: crypto.setEngine");
    },
    secureHeapUsed: (): never => {
      throw nodeError("ERR_NOT_IMPLEMENTED", "Not implemented: crypto.secureHeapUsed");
    },
    getRandomValues: (array: unknown) => webcrypto.getRandomValues(array),
    webcrypto,
    subtle: webcrypto.subtle,
    constants: JSON.parse(native("cryptoConstants", {}) as string) as object,
  };
  return { ...names, default: names };
}
