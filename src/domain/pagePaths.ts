/** Paths of the pages for everyone, each before those that match it, too; `:name` stands for a segment. */
export const PUBLIC_PATHS = [
  "/sign-in",
  "/sign-in/provider",
  "/invitation",
  "/r/:id",
  "/presets/:name",
  "/explorer",
  "/explorer/search",
  "/explorer/requests",
  "/explorer/:network",
  "/explorer/:network/blocks",
  "/explorer/:network/transactions",
  "/explorer/:network/requests",
  "/explorer/:network/block/:number",
  "/explorer/:network/tx/:hash",
  "/explorer/:network/address/:address",
  "/explorer/:network/address/:address/contract",
] as const;

/** Paths of the pages for signed-in users. */
export const OWN_PATHS = [
  "/",
  "/functions",
  "/networks",
  "/sessions",
  "/audit",
  "/people",
  "/presets",
  "/random",
  "/dapps/:dappId",
  "/dapps/:dappId/keys",
  "/dapps/:dappId/config-vars",
  "/dapps/:dappId/consumers",
  "/dapps/:dappId/dry-runs",
  "/dapps/:dappId/dry-runs/:id",
  "/dapps/:dappId/triggers",
  "/dapps/:dappId/triggers/:id",
  "/dapps/:dappId/secrets",
  "/dapps/:dappId/webhooks",
  "/dapps/:dappId/webhooks/:id",
  "/dapps/:dappId/usage",
  "/dapps/:dappId/people",
  "/dapps/:dappId/settings",
  "/dapps/:dappId/requests",
  "/dapps/:dappId/requests/:id",
] as const;

/** Where a page is in the application. */
export interface PagePlace {
  readonly page: (typeof PUBLIC_PATHS)[number] | (typeof OWN_PATHS)[number];
  /** The segments that its path leaves open, by name. */
  readonly params: Readonly<Record<string, string>>;
}

const PATTERNS = [...PUBLIC_PATHS, ...OWN_PATHS].map((page) => ({
  page,
  pattern: new RegExp(`^${page.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}/?$`),
}));

/** Finds the application's page at a path; `undefined` if there is none. */
export function findPage(path: string): PagePlace | undefined {
  for (const { page, pattern } of PATTERNS) {
    const found = pattern.exec(path);
    if (found !== null) return { page, params: { ...found.groups } };
  }
  return undefined;
}
