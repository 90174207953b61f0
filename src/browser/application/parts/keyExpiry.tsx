import type { KeyView } from "../../../client/index.ts";
import { isUsableKey } from "../../../domain/usableKey.ts";
import { Age, Time } from "./format.tsx";
import { Tag } from "./parts.tsx";

const SOON_MS = 7 * 86_400_000;

/** Whether a key is about to expire, or has expired: within seven days. */
export function expiresSoon({ revokedAt, expiresAt }: KeyView): boolean {
  return revokedAt === null && expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_MS;
}

/** When a key expires; nothing if it doesn't, or is revoked. */
export function KeyExpiry({ apiKey }: { readonly apiKey: KeyView }) {
  const { revokedAt, expiresAt } = apiKey;
  if (revokedAt !== null || expiresAt === null) return null;
  if (!isUsableKey(apiKey)) return <Tag kind="bad">expired</Tag>;
  return expiresSoon(apiKey) ? (
    <Tag kind="busy">
      expires <Age iso={expiresAt} />
    </Tag>
  ) : (
    <span className="note">
      expires <Time iso={expiresAt} />
    </span>
  );
}
