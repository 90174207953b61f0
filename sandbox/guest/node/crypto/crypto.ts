import { nodeError } from "../../buffer/errors.ts";
import type { Internals } from "../../internals.ts";
import { createByteTools } from "./bytes.ts";
import { createCiphers } from "./cipher.ts";
import { createDerivations } from "./derive.ts";
import { createDigests } from "./digest.ts";
import { type BufferType, createKeys } from "./key.ts";
import { createRandom } from "./random.ts";
import { createSigning } from "./sign.ts";

/** Creates `node:crypto`: the host's natives do the work synchronously; input is buffered until the result is requested. */
export function createCrypto({ load, native }: Internals): Readonly<Record<string, unknown>> {
  const { Buffer } = load("buffer") as unknown as { Buffer: BufferType };
  const { crypto: webcrypto } = load("crypto") as {
    crypto: { subtle: unknown; getRandomValues(array: unknown): unknown };
  };
  const keys = createKeys(native, Buffer);
  const { KeyObject, createKey } = keys;
  const tools = createByteTools(native, Buffer, keys);
  const { toBytes } = tools;
  const listed = (name: string): string[] => JSON.parse(native(name, {}) as string) as string[];
  const names = {
    ...createDigests(native, tools),
    KeyObject,
    createSecretKey: (key: unknown, encoding?: unknown) =>
      new KeyObject("secret", toBytes(key, encoding, "key")),
    createPublicKey: (key: unknown) => createKey(key, true),
    createPrivateKey: (key: unknown) => createKey(key, false),
    ...createCiphers(tools),
    ...createRandom(native, Buffer),
    timingSafeEqual: (a: unknown, b: unknown): boolean => {
      const [left, right] = [toBytes(a, undefined, "buf1"), toBytes(b, undefined, "buf2")];
      if (left.length !== right.length)
        throw nodeError(
          "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH",
          "Input buffers must have the same byte length",
          RangeError,
        );
      return left.reduce((difference, byte, at) => difference | (byte ^ (right[at] as number)), 0) === 0;
    },
    ...createDerivations(tools),
    ...createSigning(native, tools, keys),
    getHashes: () => listed("hashes"),
    getCiphers: () => listed("ciphers"),
    getCurves: () => listed("curves"),
    getRandomValues: (array: unknown) => webcrypto.getRandomValues(array),
    webcrypto,
    subtle: webcrypto.subtle,
    constants: {},
  };
  return { ...names, default: names };
}
