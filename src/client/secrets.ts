import { InvalidOptionError } from "./errors.ts";
import type { CallOptions } from "./limits.ts";
import { createCalls, type Transport } from "./transport.ts";
import type {
  ListSecretsParams,
  SecretNetworkParams,
  SecretsKey,
  SecretsSigner,
  SecretsSignerParams,
  SecretView,
  SetSecretParams,
} from "./types.ts";

/** Most bytes of a secret's value, as the service takes it in the clear. */
const MAX_VALUE_BYTES = 2_048;

/** What is set of a secret. */
export interface SecretParams extends Omit<SetSecretParams, "ciphertext"> {
  readonly value: string;
}

/** The secrets of a dapp, which its functions read as `secrets.NAME`. */
export interface SecretCalls {
  /**
   * Encrypts a value to the network's oracle here, so that the service never sees it, and stores it; replaces the one of that name.
   *
   * @throws InvalidOptionError if the value is empty or too long, which nobody else could tell.
   */
  set(name: string, params: SecretParams, options?: CallOptions): Promise<SecretView>;
  /** Lists names, never values. */
  list(params?: ListSecretsParams, options?: CallOptions): Promise<readonly SecretView[]>;
  delete(name: string, params?: SecretNetworkParams, options?: CallOptions): Promise<SecretView>;
  /** Returns what {@link set} encrypts to. */
  key(params?: SecretNetworkParams, options?: CallOptions): Promise<SecretsKey>;
  /** Lets an account of yours, instead of the one before it, upload secrets for the dapp's subscription with `SecretsManager`. */
  setSigner(params: SecretsSignerParams, options?: CallOptions): Promise<SecretsSigner>;
}

/** Creates the calls of secrets. */
export function createSecretCalls(transport: Transport): SecretCalls {
  const { send, get, getItems } = createCalls(transport);
  const of = (name: string): string => `/api/secrets/${encodeURIComponent(name)}`;
  const key: SecretCalls["key"] = (query, options) => get("/api/secretsKey", options, query);
  return {
    async set(name, { network, value, allowedHosts, expiresAt }, options) {
      assertValue(value);
      const [{ sealSecret }, { thresholdPublicKey, label }] = await Promise.all([
        // Its curve is as large as the rest of the client.
        import("../secrets/sealSecret.ts"),
        key({ network }, options),
      ]);
      // An empty list allows none, in a ciphertext, but any in a view.
      const hosts = allowedHosts?.length === 0 ? undefined : allowedHosts?.map((host) => host.toLowerCase());
      const secret = { name, value, allowedHosts: hosts };
      const ciphertext = await sealSecret(thresholdPublicKey, secret, parseHex(label));
      return await send({ method: "PUT", path: of(name), body: { network, ciphertext, expiresAt } }, options);
    },
    list: (query, options) => getItems("/api/secrets", options, query),
    delete: (name, query = {}, options) =>
      send({ method: "DELETE", path: of(name), query: { ...query } }, options),
    key,
    setSigner: (body, options) => send({ method: "POST", path: "/api/secretsSigner", body }, options),
  };
}

function assertValue(value: unknown): void {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value).length : undefined;
  if (bytes !== undefined && bytes >= 1 && bytes <= MAX_VALUE_BYTES) return;
  throw new InvalidOptionError(
    `value is ${bytes === undefined ? "no text" : `${bytes} bytes long`}; expected text of 1 to ${MAX_VALUE_BYTES} bytes in UTF-8`,
  );
}

function parseHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 - 1 }, (_, i) =>
    Number(`0x${text.slice(2 * i + 2, 2 * i + 4)}`),
  );
}
