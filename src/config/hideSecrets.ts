import { isEmbedded } from "./embeddedNetworkSchema.ts";
import type { Config } from "./configSchema.ts";

/**
 * Returns a configuration that is safe to show: node URLs may hold keys, so only their scheme and host remain.
 */
export function hideSecrets(config: Config): object {
  return {
    ...config,
    networks: Object.fromEntries(
      Object.entries(config.networks).map(([name, network]) => {
        if (isEmbedded(network)) return [name, network];
        const { rpcUrls, operatorKey, ...rest } = network;
        const { remote, ...key } = operatorKey ?? {};
        const shownKey =
          remote === undefined ? operatorKey : { ...key, remote: { ...remote, url: originOf(remote.url) } };
        return [
          name,
          {
            ...rest,
            rpcUrls: rpcUrls.map(originOf),
            ...(shownKey === undefined ? {} : { operatorKey: shownKey }),
          },
        ];
      }),
    ),
  };
}

/** `…` replaces the rest of the URL, and its user name and password. */
function originOf(text: string): string {
  const url = URL.parse(text);
  if (url === null) return "…";
  const { protocol, host, pathname, search, username, password } = url;
  const isWhole = pathname.length <= 1 && search === "" && username === "" && password === "";
  return `${protocol}//${host}${isWhole ? "" : "/…"}`;
}
