import type { Hex } from "viem";
import { endpointOf, parseNodeUrls } from "../../chainlink/offchainConfig.ts";
import { messageOf } from "../../lib/errors.ts";
import type { OracleIdentity } from "./oracleIdentity.ts";

const TIMEOUT_MS = 5_000;
/** Longest answer that is read: 31 nodes on a few networks take some 20 kB. */
const MAX_BYTES = 1_000_000;

/** What one node says of another; it may lie. */
interface NodeView {
  readonly signer: Hex;
  readonly lastSeen: string | undefined;
  readonly lastTransmission: string | undefined;
  readonly contradictions: number;
  readonly same: number;
  readonly of: number;
}

/** Asks the nodes of several operators what they know of each other, and tells a line for each; nothing for an oracle with all keys. */
export async function checkNodes(
  { signers, offchainConfig }: OracleIdentity["functions"],
  tell: (isOk: boolean, text: string, remedy?: string) => void,
): Promise<void> {
  const urls = parseNodeUrls(offchainConfig ?? "0x", signers.length) ?? [];
  const answers = await Promise.all(
    urls.map((url) => askNode(url).catch((error: unknown) => messageOf(error))),
  );
  for (const [index, url] of urls.entries()) {
    const signer = signers[index]!;
    const answer = answers[index]!;
    const views = answers
      .filter((one, from) => from !== index && typeof one !== "string")
      .flatMap((one) => (one as readonly NodeView[]).filter((view) => view.signer === signer));
    const seen = describeViews(views);
    if (typeof answer === "string")
      tell(
        false,
        `node ${url} (${signer}) does not answer: ${answer}; ${seen}`,
        "its operator has to start it",
      );
    else
      tell(
        answer.some((view) => view.signer === signer),
        `node ${url} (${signer}): ${seen}`,
        "it does not count itself to the coordinator's nodes: its keys are others, or its chain is behind",
      );
  }
}

/** What most of the others say: of numbers the median, so that a few liars among them count for nothing. */
function describeViews(views: readonly NodeView[]): string {
  if (views.length === 0) return "none of the others tells of it";
  const rates = views
    .filter(({ of }) => of > 0)
    .map(({ same, of }) => same / of)
    .toSorted((a, b) => a - b);
  const rate = rates[Math.floor(rates.length / 2)];
  const seen = views.flatMap(({ lastSeen = [] }) => lastSeen).toSorted();
  const accused = views.filter(({ contradictions }) => contradictions > 0).length;
  const transmission = views.find(({ lastTransmission }) => lastTransmission !== undefined)?.lastTransmission;
  return [
    seen.length === 0 ? "not seen yet" : `last seen ${seen[Math.floor(seen.length / 2)]}`,
    rate === undefined
      ? "no answers to compare yet"
      : `agreed with ${(100 * rate).toFixed(1)} % of the answers`,
    transmission === undefined ? "no transmission yet" : `last transmission ${transmission}`,
    ...(accused === 0 ? [] : [`contradicted itself, as ${accused} others say: see their /evidence`]),
  ].join("; ");
}

async function askNode(url: string): Promise<readonly NodeView[]> {
  const response = await fetch(endpointOf(url, "/readyz"), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: "error",
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`its /readyz has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const networks = parseNetworks(Buffer.concat(chunks).toString());
  if (networks === undefined) throw new Error("its /readyz is none of a node");
  return Object.values(networks).flatMap((network: { nodes?: unknown } | null) =>
    Array.isArray(network?.nodes) ? network.nodes.flatMap(parseView) : [],
  );
}

function parseNetworks(text: string): object | undefined {
  try {
    const { networks } = (JSON.parse(text) ?? {}) as { networks?: unknown };
    return typeof networks === "object" ? (networks ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

/** Takes of a view what has the form that it should have: its text goes to a terminal. */
function parseView(given: unknown): readonly NodeView[] {
  const { signer, lastSeen, lastTransmission, contradictions, agreement } = (given ?? {}) as Record<
    string,
    unknown
  >;
  const { same, of } = (agreement ?? {}) as Record<string, unknown>;
  if (typeof signer !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(signer)) return [];
  return [
    {
      signer: signer as Hex,
      lastSeen: matching(lastSeen, /^[-0-9T:.Z]{20,24}$/),
      lastTransmission: matching(lastTransmission, /^0x[0-9a-f]{64}$/),
      contradictions: countOf(contradictions),
      same: countOf(same),
      of: countOf(of),
    },
  ];
}

const matching = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === "string" && pattern.test(value) ? value : undefined;

const countOf = (value: unknown): number => (Number.isSafeInteger(value) ? Math.max(0, Number(value)) : 0);
