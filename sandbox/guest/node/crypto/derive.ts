import type { ByteTools } from "./bytes.ts";
import { calledBack } from "./callback.ts";

/** Creates the key derivation functions. */
export function createDerivations({
  Buffer,
  toBytes,
  bytesFrom,
}: ByteTools): Readonly<Record<string, unknown>> {
  const pbkdf2Sync = (
    password: unknown,
    salt: unknown,
    iterations: number,
    keyLength: number,
    digest: string,
  ): unknown =>
    Buffer.from(
      bytesFrom(
        "pbkdf2",
        { iterations, keyLength, digest },
        toBytes(password, undefined, "password"),
        toBytes(salt, undefined, "salt"),
      ),
    );
  const scryptSync = (
    password: unknown,
    salt: unknown,
    keyLength: number,
    options: Record<string, number> = {},
  ): unknown =>
    Buffer.from(
      bytesFrom(
        "scrypt",
        {
          keyLength,
          cost: options["N"] ?? options["cost"] ?? 16_384,
          blockSize: options["r"] ?? options["blockSize"] ?? 8,
          parallelization: options["p"] ?? options["parallelization"] ?? 1,
        },
        toBytes(password, undefined, "password"),
        toBytes(salt, undefined, "salt"),
      ),
    );
  const hkdfSync = (digest: string, key: unknown, salt: unknown, info: unknown, keyLength: number): unknown =>
    bytesFrom(
      "hkdf",
      { digest, keyLength },
      toBytes(key),
      toBytes(salt),
      toBytes(info),
      new Uint8Array(0),
    ).slice().buffer;
  return {
    pbkdf2Sync,
    pbkdf2: calledBack(pbkdf2Sync),
    scryptSync,
    scrypt: calledBack(scryptSync),
    hkdfSync,
    hkdf: calledBack(hkdfSync),
  };
}
