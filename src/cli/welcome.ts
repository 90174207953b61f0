import { quoteForShell } from "../lib/quoteForShell.ts";
import type { Terminal } from "./terminal.ts";

/** What to tell people after a start. */
export interface Welcome {
  /** Base URL for callers, without a trailing slash. */
  readonly url: string;
  /** Base URL for programs on this machine, without a trailing slash. */
  readonly localUrl: string;
  /** Live key of the default dapp; secret. */
  readonly apiKey: string;
  /** File that holds it; absent if none does. */
  readonly apiKeyFile?: string;
  /** Opens the application, once; secret. */
  readonly signInLink: string;
  /** File or variable with the token that signs in to the application. */
  readonly operatorTokenAt: string;
  /** Absolute path; absent where commands find it without being told. */
  readonly dataDir?: string;
  /** The networks that serve. */
  readonly networks: readonly { readonly name: string }[];
}

/**
 * Prints where to reach the service and how to use it. Shows key and sign-in link only to a person; if a file or a program reads the
 * output, such as a log, it names the files that hold the secrets instead.
 */
export function printWelcome(welcome: Welcome, ms: number, { out, colors, isTerminal }: Terminal): void {
  const { url, localUrl, apiKey, apiKeyFile, signInLink, operatorTokenAt, dataDir, networks } = welcome;
  const example = networks.find(({ name }) => name === "sepolia") ?? networks[0];
  const place = apiKeyFile === undefined ? "shown by `npx tyche dapp config`" : `in ${apiKeyFile}`;
  const inShell =
    apiKeyFile === undefined
      ? `"$(npx tyche dapp config --env | sed -n s/^TYCHE_API_KEY=//p)"`
      : `"$(cat ${quoteForShell(apiKeyFile)})"`;
  // First, because the command that prints the key reads it.
  const inDataDir = dataDir === undefined ? "" : `export TYCHE_DATA_DIR=${quoteForShell(dataDir)}\n    `;
  const signIn = isTerminal
    ? `sign in once with ${colors.cyan(signInLink)}\n            or with the token in ${operatorTokenAt}`
    : `sign in with the token in ${operatorTokenAt}`;
  out(`
  Ready in ${(ms / 1000).toFixed(2)} s

  API       ${colors.cyan(url)}
  API key   ${isTerminal ? apiKey : place}
  Pages     ${colors.cyan(`${url}/`)} application; ${signIn}
            ${colors.cyan(`${url}/explorer`)} activity on the chains
            ${colors.cyan(`${url}/docs`)} API documentation

  In another terminal:

    export TYCHE_URL=${localUrl}
    ${inDataDir}export TYCHE_API_KEY=${isTerminal ? apiKey : inShell}
    curl -X POST "$TYCHE_URL/api/vrfv2/presets?network=${example?.name}&preset=coinflip" \\
      -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' -d '{}'
`);
}
