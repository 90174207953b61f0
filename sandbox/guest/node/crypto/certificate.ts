import type { ByteTools } from "./bytes.ts";
import { callable } from "./callable.ts";

/** Creates `Certificate`, whose functions are its own and its objects'; they check their argument and read no key. */
export function createCertificate({ toBytes }: ByteTools): object {
  const refusing = (name: string) => (spkac: unknown, encoding?: unknown) => {
    toBytes(spkac, encoding, "spkac", true);
    throw new Error(`node:crypto: ${name} of Certificate is not available in this sandbox`);
  };
  const [exportChallenge, exportPublicKey, verifySpkac] = [
    "exportChallenge",
    "exportPublicKey",
    "verifySpkac",
  ].map(refusing);
  class Certificate {}
  Object.assign(Certificate.prototype, { verifySpkac, exportPublicKey, exportChallenge });
  return Object.assign(callable(Certificate, "Certificate", "verifySpkac exportPublicKey exportChallenge"), {
    exportChallenge,
    exportPublicKey,
    verifySpkac,
  });
}
