import { quoteForShell } from "../../../../lib/quoteForShell.ts";
import type { Draft } from "./draft.ts";

/** A language in which a draft can be written as an API call. */
export interface Snippet {
  readonly name: string;
  readonly write: (draft: Draft, baseUrl: string) => string;
}

/** Ways to run a draft without the playground. None contains a key: each reads it from `TYCHE_API_KEY`. */
export const SNIPPETS: readonly Snippet[] = [
  { name: "curl", write: writeCurl },
  { name: "TypeScript", write: writeTypeScript },
  { name: "Python", write: writePython },
];

function writeCurl(draft: Draft, baseUrl: string): string {
  const body = JSON.stringify(bodyOf(draft), null, 2);
  return `curl -sS -X POST ${quoteForShell(`${baseUrl}/api/oracleFunctions/runFunction`)} \\
  -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' \\
  -d ${quoteForShell(body)}
`;
}

function writeTypeScript(draft: Draft, baseUrl: string): string {
  const { network, source, args, returnType, ...rest } = draft;
  return `import { createClient } from "tyche/client";

const tyche = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: process.env.TYCHE_API_KEY! });
const { success, value, err, url } = await tyche.runFunction({
  network: ${JSON.stringify(network)},
  source: \`${source.replaceAll(/[\\`]|\$(?=\{)/g, String.raw`\$&`).replaceAll("\r", String.raw`\r`)}\`,
  args: ${JSON.stringify(args)},
  returnType: ${JSON.stringify(returnType)},${writeRest(rest, (name) => `\n  ${name}`)}
});
console.log(success ? value : err, url);
`;
}

function writePython(draft: Draft, baseUrl: string): string {
  const { network, source, args, returnType, ...rest } = draft;
  // JSON strings and lists of strings are also valid Python, except for lone surrogates, which no request can contain.
  return `import json, os, urllib.error, urllib.request

body = {
    "network": ${JSON.stringify(network)},
    "source": """${source.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll("\r", String.raw`\r`)}""",
    "args": ${JSON.stringify(args)},
    "returnType": ${JSON.stringify(returnType)},${writeRest(rest, (name) => `\n    "${name}"`)}
}
request = urllib.request.Request(
    ${JSON.stringify(`${baseUrl}/api/oracleFunctions/runFunction`)},
    data=json.dumps(body).encode(),
    headers={"Authorization": os.environ["TYCHE_API_KEY"], "Content-Type": "application/json"},
)
try:
    with urllib.request.urlopen(request) as response:
        data = json.load(response)["data"]
except urllib.error.HTTPError as error:
    data = json.load(error)["data"]
print(data["value"] if data["success"] else data["err"])
`;
}

function bodyOf({ network, source, args, returnType, secrets, beacon }: Draft) {
  return { network, source, args, returnType, secrets, beacon };
}

/** Writes the members that a draft may lack. */
function writeRest(
  { secrets, beacon }: Pick<Draft, "secrets" | "beacon">,
  key: (name: string) => string,
): string {
  const given = Object.entries({ secrets, beacon }).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${key(name)}: ${JSON.stringify(value)},`).join("");
}
