import { nodeError, showValuesWith, wrongArgument } from "../buffer/errors.ts";
import type { Internals } from "../internals.ts";
import { createAgreements } from "../node/crypto/agree.ts";
import { type BufferType, createByteTools } from "../node/crypto/bytes.ts";
import { createCertificate } from "../node/crypto/certificate.ts";
import { createCiphers } from "../node/crypto/cipher.ts";
import { createDerivations } from "../node/crypto/derive.ts";
import { createDigests } from "../node/crypto/digest.ts";
import { type WebKeys, createKeys } from "../node/crypto/key.ts";
import { CURVES, HASHES } from "../node/crypto/names.ts";
import { createRandom } from "../node/crypto/random.ts";
import { ORDER, SHAPES } from "../node/crypto/shapes.ts";
import { createSigning } from "../node/crypto/sign.ts";
import { order, shape } from "../shape.ts";

/** Creates `node:crypto`: the host's natives do the work, synchronously. */
export default function nodeCryptoChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load, native } = internals;
  showValuesWith(load);
  const { Buffer } = load("buffer") as unknown as { Buffer: BufferType };
  const { crypto: webcrypto, webKeys } = load("crypto") as {
    crypto: { subtle: unknown; getRandomValues(array: unknown): unknown };
    webKeys: WebKeys;
  };
  const tools = createByteTools(native, Buffer);
  const keys = createKeys(internals, tools, webKeys);
  class X509Certificate {
    constructor(buffer: unknown) {
      if (typeof buffer !== "string" && !ArrayBuffer.isView(buffer))
        throw wrongArgument(
          "buffer",
          "of type string or an instance of Buffer, TypedArray, or DataView",
          buffer,
        );
      throw new Error("node:crypto: X509Certificate is not available in this sandbox");
    }
  }
  const refusing = (name: string) => (): never => {
    throw nodeError("ERR_NOT_IMPLEMENTED", `Not implemented: crypto.${name}`);
  };
  const names: Record<string, unknown> = {
    Certificate: createCertificate(tools),
    X509Certificate,
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
      throw new Error("FIPS mode is not supported in Deno.");
    },
    setEngine: refusing("setEngine"),
    secureHeapUsed: refusing("secureHeapUsed"),
    getRandomValues: (array: unknown) => webcrypto.getRandomValues(array),
    webcrypto,
    subtle: webcrypto.subtle,
    constants: Object.defineProperty(
      JSON.parse(native("cryptoConstants", {}) as string) as object,
      "defaultCipherList",
      { value: undefined },
    ),
  };
  shape(names, SHAPES);
  const random = names["randomBytes"];
  const exported = { ...names, pseudoRandomBytes: random, default: names };
  order(names, ORDER);
  // Other names of one function, which no loop finds.
  let other = random;
  const accessor = { get: () => other, set: (value: unknown) => void (other = value), configurable: true };
  Object.defineProperties(names, {
    pseudoRandomBytes: accessor,
    prng: accessor,
    rng: accessor,
  });
  return exported;
}
