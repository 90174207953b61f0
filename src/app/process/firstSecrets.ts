import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { FIRST_DAPP_NAME, type DappDirectory } from "../../dapps/dapps.ts";
import { isUsableKey } from "../../domain/usableKey.ts";
import type { OutsideSecret } from "../../lib/outsideSecret.ts";
import type { DataDirectory } from "../../store/dataDirectory.ts";
import { MIN_TOKEN_CHARACTERS } from "../../people/access.ts";
import { StartError } from "../startError.ts";

/** Returns a key of the default dapp with full access; the first start creates both. */
export async function ensureDefaultDapp(
  dapps: DappDirectory,
  writeKey: (apiKey: string) => void,
): Promise<string> {
  const first = (await dapps.list())[0];
  if (first === undefined) {
    const { key } = await dapps.create(FIRST_DAPP_NAME);
    writeKey(key.apiKey);
    return key.apiKey;
  }
  const live = (await dapps.keys(first.id)).find((key) => isUsableKey(key) && key.access === "full");
  const apiKey = live?.apiKey ?? (await dapps.addKey(first.id, { name: "key of a start" })).apiKey;
  writeKey(apiKey);
  return apiKey;
}

/**
 * Returns the token for signing in to the application, and where it is kept: outside, or in the data directory, where the first start
 * creates it.
 */
export function ensureOperatorToken(
  directory: DataDirectory,
  outside: OutsideSecret | undefined,
): OutsideSecret {
  const file = directory.file("operator-token");
  if (outside === undefined && !existsSync(file))
    directory.writeSecret("operator-token", `${randomBytes(32).toString("base64url")}\n`);
  const { text, from } = outside ?? { text: readFileSync(file, "utf8"), from: file };
  const token = text.trim();
  if (token.length >= MIN_TOKEN_CHARACTERS) return { text: token, from };
  const remedy =
    outside === undefined ? "remove it, and the next start creates a new one" : "put a longer token there";
  throw new StartError(`${from} must hold at least ${MIN_TOKEN_CHARACTERS} characters; ${remedy}`);
}
