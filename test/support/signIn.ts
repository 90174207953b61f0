import { readFileSync } from "node:fs";
import path from "node:path";

/** Signs in to the application with the operator token; gives the cookie of the session. */
export async function signIn({
  url,
  dataDir,
}: {
  readonly url: string;
  readonly dataDir: string;
}): Promise<string> {
  const operatorToken = readFileSync(path.join(dataDir, "operator-token"), "utf8").trim();
  const response = await fetch(`${url}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ operatorToken, next: "/" }),
    redirect: "manual",
  });
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0];
  if (cookie === undefined) throw new Error(`the sign-in was refused with ${response.status}`);
  return cookie;
}
