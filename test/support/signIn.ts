import { readFileSync } from "node:fs";
import path from "node:path";
import { createOperator, type TycheOperator } from "../../src/client/index.ts";

interface RunningService {
  readonly url: string;
  readonly dataDir: string;
}

/** Returns a service's operator token. */
export function readOperatorToken({ dataDir }: Pick<RunningService, "dataDir">): string {
  return readFileSync(path.join(dataDir, "operator-token"), "utf8").trim();
}

/** Creates a client with the operator's permissions. */
export function connectOperator(service: RunningService): TycheOperator {
  return createOperator({ baseUrl: service.url, token: readOperatorToken(service) });
}

/** The browser's side of a session: the cookie, and the key that the pages keep. */
export interface SignedIn {
  readonly cookie: string;
  readonly pageKey: string;
}

/** Signs in to the application with the operator token. */
export async function signIn(service: RunningService): Promise<SignedIn> {
  const response = await fetch(`${service.url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ operatorToken: readOperatorToken(service) }),
  });
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0];
  if (cookie === undefined) throw new Error(`the sign-in was refused with ${response.status}`);
  const { data } = (await response.json()) as { readonly data: { readonly pageKey: string } };
  return { cookie, pageKey: data.pageKey };
}

/** Returns a session's API token; `null` if there is none. */
export async function readSessionToken(url: string, { cookie, pageKey }: SignedIn): Promise<string | null> {
  const response = await fetch(`${url}/session`, {
    method: "POST",
    headers: { cookie, "content-type": "application/json" },
    body: JSON.stringify({ pageKey }),
  });
  return ((await response.json()) as { readonly data: { readonly token: string | null } }).data.token;
}
