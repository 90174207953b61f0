import type { Internals } from "../../internals.ts";
import { concatBytes } from "../../webIdl.ts";
import type { ByteTools } from "./bytes.ts";
import type { KeyTools } from "./key.ts";

type Bytes = Uint8Array;

/** Creates the functions that sign and verify. */
export function createSigning(
  native: Internals["native"],
  { Buffer, toBytes, output }: ByteTools,
  { pemOf }: KeyTools,
): Readonly<Record<string, unknown>> {
  const names = {
    sign: (algorithm: unknown, data: unknown, key: unknown) =>
      Buffer.from(native("sign", { algorithm: algorithm ?? null, key: pemOf(key) }, toBytes(data))),
    verify: (algorithm: unknown, data: unknown, key: unknown, signature: unknown) => {
      const [signed, message] = [toBytes(signature), toBytes(data)];
      return (
        native(
          "verify",
          { algorithm: algorithm ?? null, key: pemOf(key), lengths: [signed.length] },
          concatBytes([signed, message]),
        ) === "true"
      );
    },
    createSign: (algorithm: string) =>
      signer((data, key, encoding) =>
        output(native("sign", { algorithm, key: pemOf(key) }, data) as Bytes, encoding),
      ),
    createVerify: (algorithm: string) =>
      signer((data, key, signature, encoding) =>
        names.verify(algorithm, data, key, toBytes(signature, encoding)),
      ),
  };
  function signer(finish: (data: Bytes, key: unknown, third?: unknown, fourth?: unknown) => unknown): object {
    const parts: Bytes[] = [];
    const end = (key: unknown, third?: unknown, fourth?: unknown): unknown =>
      finish(concatBytes(parts), key, third, fourth);
    const self = {
      update(data: unknown, encoding?: unknown) {
        parts.push(toBytes(data, encoding));
        return self;
      },
      end: () => self,
      sign: end,
      verify: end,
    };
    return self;
  }
  return names;
}
