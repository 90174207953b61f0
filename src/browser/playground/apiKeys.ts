import { createClient, type TycheClient } from "../../client/index.ts";
import type { Model } from "./model.ts";

/**
 * Creates a source of clients by dapp. Each has a key of its dapp, which is asked for once, as the page of the keys does: by a form with this
 * session's token. Keys stay in memory and end with the page.
 */
export function createClients({ dapps, token }: Model): (dappId: string) => Promise<TycheClient> {
  const clients = new Map<string, Promise<TycheClient>>();
  return (dappId) => {
    const known = clients.get(dappId);
    if (known !== undefined) return known;
    const made = openClient(dappId, dapps.find(({ id }) => id === dappId)?.keyId ?? null, token);
    clients.set(dappId, made);
    // One that failed is tried again.
    made.catch(() => clients.delete(dappId));
    return made;
  };
}

async function openClient(dappId: string, keyId: string | null, token: string): Promise<TycheClient> {
  if (keyId === null) throw new Error("This dapp has no API key: add one under Fetch Config Vars.");
  const answer = await fetch(`/dapps/${dappId}/keys/${keyId}/reveal`, {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams({ token }),
  });
  if (answer.status === 401 || answer.status === 403 || answer.redirected)
    throw new Error(
      "Your sign-in has ended. Sign in in another tab, then load this page again; the link of Share keeps your source.",
    );
  if (!answer.ok) throw new Error("This dapp's API key is gone: load the page again.");
  const { data } = (await answer.json()) as { readonly data: { readonly apiKey: string } };
  return createClient({ baseUrl: location.origin, apiKey: data.apiKey });
}
