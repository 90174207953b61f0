import { createAccount } from "../evm/account.ts";
import type { Account } from "../evm/account.ts";
import { StartError } from "./startError.ts";
import type { OperatorKeyConfig } from "./config/networkSchema.ts";

type Environment = Record<string, string | undefined>;

/**
 * Loads the account that a network's configuration names.
 *
 * @throws {StartError} that says where the key should be; never the key.
 */
export async function loadOperatorKey(options: {
  readonly network: string;
  readonly key: OperatorKeyConfig | undefined;
  readonly environment: Environment;
}): Promise<Account> {
  const { network, key } = options;
  if (key?.env !== undefined) return createAccount(readVariable(network, key.env, options.environment));
  throw new StartError(
    key === undefined
      ? `networks.${network}.operatorKey is missing: name the variable with the key as {"env": "NAME"}`
      : `networks.${network}.operatorKey: this version reads keys from variables alone; name one as {"env": "NAME"}`,
  );
}

function readVariable(network: string, name: string, environment: Environment): Uint8Array {
  const text = environment[name]?.trim();
  if (text === undefined || text === "")
    throw new StartError(`${name}, which holds the operator's key of ${network}, is not set`);
  const digits = text.replace(/^0x/, "");
  if (/^[0-9a-fA-F]{64}$/.test(digits) && BigInt(`0x${digits}`) !== 0n) return Buffer.from(digits, "hex");
  throw new StartError(`${name}, which holds the operator's key of ${network}, is not 64 hex digits`);
}
