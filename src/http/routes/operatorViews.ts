import type { DappView, KeyView, NewKeyView } from "../../api/types.ts";
import type { DappDirectory, KeyView as OwnKeyView, LiveKeyView } from "../../dapps/dapps.ts";
import { FUNDED_ACCOUNTS } from "../../dapps/faucet.ts";
import { formatTime } from "../../lib/time.ts";

/** The accounts that hold coin on every embedded chain; their keys are public. */
export const fundedAccounts = FUNDED_ACCOUNTS.map(({ address, secretKey }) => ({ address, secretKey }));

type StoredDapp = Awaited<ReturnType<DappDirectory["get"]>>;

/** A dapp as the API shows it. */
export function viewDapp({ id, name, facilities, createdAt, beacon }: StoredDapp): DappView {
  return {
    id,
    name,
    facilities: facilities as DappView["facilities"],
    createdAt: formatTime(createdAt),
    ...(beacon === undefined ? {} : { beacon }),
  };
}

/** Returns a key's view without the key itself. */
export function viewKey(key: OwnKeyView): KeyView {
  const { id, name, apiKey, createdAt, lastUsedAt, revokedAt, dailyLimit, requestsToday, access } = key;
  const iso = (at: number | null): string | null => (at === null ? null : formatTime(at));
  return {
    id,
    name,
    ending: apiKey?.slice(-4) ?? null,
    createdAt: formatTime(createdAt),
    lastUsedAt: iso(lastUsedAt),
    revokedAt: iso(revokedAt),
    dailyLimit,
    requestsToday,
    access,
    expiresAt: iso(key.expiresAt),
    previousUntil: iso(key.previousUntil),
  };
}

/** Returns a key's view with the key itself; for keys that are not revoked. */
export function viewNewKey(key: LiveKeyView): NewKeyView {
  return { ...viewKey(key), apiKey: key.apiKey };
}
