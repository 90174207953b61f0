import type { Terminal } from "./terminal.ts";

/** What a start has to tell. */
export interface Welcome {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Live key of the default dapp; secret. */
  readonly apiKey: string;
  /** File that holds it; absent where none does. */
  readonly apiKeyFile?: string;
  /** Opens the application, once; secret. */
  readonly signInLink: string;
  /** File or variable with the token that signs in to the application. */
  readonly operatorTokenAt: string;
  /** The networks that serve. */
  readonly networks: readonly { readonly name: string }[];
}

/**
 * Prints where the service is reached and how it is used. Key and sign-in link are shown to a person alone; where a file or a program
 * takes the output, such as a log, the files that hold the secrets are named in their place.
 */
export function printWelcome(welcome: Welcome, ms: number, { out, colors, isTerminal }: Terminal): void {
  const { url, apiKey, apiKeyFile, signInLink, operatorTokenAt, networks } = welcome;
  const example = networks.find(({ name }) => name === "sepolia") ?? networks[0];
  const place = apiKeyFile === undefined ? "shown by `tyche dapp config`" : `in ${apiKeyFile}`;
  const inShell =
    apiKeyFile === undefined
      ? `"$(tyche dapp config --env | sed -n s/^TYCHE_API_KEY=//p)"`
      : `"$(cat '${apiKeyFile}')"`;
  const signIn = isTerminal
    ? `sign in once with ${colors.cyan(signInLink)}\n            or with the token in ${operatorTokenAt}`
    : `sign in with the token in ${operatorTokenAt}`;
  out(`
  Ready in ${(ms / 1000).toFixed(2)} s

  API       ${colors.cyan(url)}
  API key   ${isTerminal ? apiKey : place}
  Pages     ${colors.cyan(`${url}/`)} application; ${signIn}
            ${colors.cyan(`${url}/explorer`)} what is on the chains
            ${colors.cyan(`${url}/docs`)} API documentation

  In another terminal:

    export TYCHE_URL=${url}
    export TYCHE_API_KEY=${isTerminal ? apiKey : inShell}
    curl -X POST "$TYCHE_URL/api/vrfv2/presets?network=${example?.name}&preset=coinflip" \\
      -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' -d '{}'
`);
}
