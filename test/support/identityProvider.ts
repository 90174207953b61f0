import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

/** An OpenID provider on this machine, at which everybody is who they say. */
export interface TestProvider {
  readonly issuer: string;
  /**
   * Signs in there as a browser does, and agrees to what is asked.
   *
   * @param url where the service sends the browser.
   * @returns where the provider sends it back to.
   */
  logIn(url: string, account: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts one that knows a client of the service at this URL. */
export async function startTestProvider(
  client: { readonly id: string; readonly secret: string },
  serviceUrl: string,
): Promise<TestProvider> {
  const callback = `${serviceUrl}/sign-in/provider`;
  const config = {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [callback] }],
    claims: { profile: ["name"], email: ["email"] },
    cookies: { keys: ["for tests"] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `${id} of the provider` }),
    }),
  };
  // The issuer is the address, which is known once it listens.
  const server = new Provider("http://127.0.0.1", config).listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.removeAllListeners("request");
  const answer = new Provider(issuer, config).callback();
  server.on("request", (request, response) => void answer(request, response));
  return {
    issuer,
    async logIn(url, account) {
      const cookies = new Map<string, string>();
      let target = url;
      let body: URLSearchParams | undefined;
      for (;;) {
        const response = await fetch(target, {
          redirect: "manual",
          headers: { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") },
          ...(body === undefined ? {} : { method: "POST", body }),
        });
        for (const cookie of response.headers.getSetCookie()) {
          const [name = "", value = ""] = cookie.split(";")[0]!.split("=");
          cookies.set(name, value);
        }
        const location = response.headers.get("location");
        if (location === null) {
          const [, prompt] = /name="prompt" value="(\w+)"/.exec(await response.text())!;
          body = new URLSearchParams({ prompt: prompt!, login: account, password: "any" });
          continue;
        }
        target = new URL(location, target).href;
        if (target.startsWith(callback)) return target;
        body = undefined;
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
