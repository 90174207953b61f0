import type { Internals } from "../../internals.ts";
import type { ByteTools } from "./bytes.ts";
import { callable } from "./callable.ts";

/** Creates `Certificate`, whose functions are its own and its objects'; the host reads the signed public keys. */
export function createCertificate(
  native: Internals["native"],
  { Buffer, toBytes }: ByteTools,
): (...args: never[]) => object {
  const ask = (action: string, spkac: unknown, encoding: unknown): Uint8Array =>
    native("spkac", { action }, toBytes(spkac, encoding, "spkac", true)) as Uint8Array;
  const exporting = (action: string) => (spkac: unknown, encoding?: unknown) => {
    const bytes = ask(action, spkac, encoding);
    return bytes.length === 0 ? "" : Buffer.from(bytes);
  };
  const functions = {
    exportChallenge: exporting("exportChallenge"),
    exportPublicKey: exporting("exportPublicKey"),
    verifySpkac: (spkac: unknown, encoding?: unknown) => ask("verifySpkac", spkac, encoding).length > 0,
  };
  class Certificate {}
  const { verifySpkac, exportPublicKey, exportChallenge } = functions;
  Object.assign(Certificate.prototype, { verifySpkac, exportPublicKey, exportChallenge });
  return Object.assign(callable(Certificate, "Certificate"), functions);
}
