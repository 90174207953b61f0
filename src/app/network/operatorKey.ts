import { readFile } from "node:fs/promises";
import { createAccount, type Account } from "../../evm/account.ts";
import { readKeystore } from "../../evm/keystore.ts";
import { createRemoteAccount } from "../../evm/remoteAccount.ts";
import { StartError } from "../startError.ts";
import type { OperatorKeyConfig } from "../../config/networkSchema.ts";

type Environment = Record<string, string | undefined>;

/**
 * Loads the account that a network's configuration names: a key from a variable, a key file with its password, or an account of a remote
 * signer, which is not contacted until there is something to sign.
 *
 * @throws {StartError} that says where the key should be; never the key.
 * @throws KeystoreError when the file is not a key file, or the password is wrong.
 */
export async function loadOperatorKey(options: {
  readonly network: string;
  readonly key: OperatorKeyConfig | undefined;
  readonly environment: Environment;
}): Promise<Account> {
  const { network, key } = options;
  if (key === undefined)
    throw new StartError(
      `networks.${network}.operatorKey is missing: name the variable with the key as {"env": "NAME"}, a key file, or a remote signer`,
    );
  if (key.env !== undefined) return createAccount(readVariable(network, key.env, options.environment));
  if (key.remote !== undefined) return createRemoteAccount(key.remote);
  const text = await read(network, "keystore", key.keystore!);
  const password = await read(network, "passwordFile", key.passwordFile!);
  // Editors end a file with a line break, which is not part of the password.
  return createAccount(await readKeystore(text, password.replace(/\r?\n$/, "")));
}

async function read(network: string, member: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new StartError(`networks.${network}.operatorKey.${member}: ${path} can't be read`, cause);
  }
}

function readVariable(network: string, name: string, environment: Environment): Uint8Array {
  const text = environment[name]?.trim();
  if (text === undefined || text === "")
    throw new StartError(`${name}, which holds the operator's key of ${network}, is not set`);
  const digits = text.replace(/^0x/, "");
  if (/^[0-9a-fA-F]{64}$/.test(digits) && BigInt(`0x${digits}`) !== 0n) return Buffer.from(digits, "hex");
  throw new StartError(`${name}, which holds the operator's key of ${network}, is not 64 hex digits`);
}
