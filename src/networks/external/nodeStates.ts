import type { Hex } from "viem";
import { endpointOf } from "../../chainlink/offchainConfig.ts";
import { messageOf } from "../../lib/errors.ts";

const TIMEOUT_MS = 5_000;
/** Longest answer that is accepted: 31 nodes on a few networks take about 20 kB. */
const MAX_BYTES = 1_000_000;

/** A node of an oracle with several operators, as set in the coordinator's configuration. */
export interface ConfiguredNode {
  readonly url: string;
  /** Checksummed. */
  readonly signer: Hex;
  readonly transmitter: Hex;
}

/** The state of a node: whether it answers, and what the other nodes report about it. */
export interface NodeState extends ConfiguredNode {
  /** Why it gave no answer; `undefined` when it did. */
  readonly trouble: string | undefined;
  /** Whether it lists itself among the coordinator's nodes; `false` without an answer. */
  readonly isMember: boolean;
  /**
   * How many other nodes report about it. The reports are reduced to a median or a count, so that a few lying nodes make no
   * difference.
   */
  readonly witnesses: number;
  /** ISO 8601. */
  readonly lastSeen: string | undefined;
  /** Share of the answers on chain that matched what it had seen, 0 to 1. */
  readonly agreementRate: number | undefined;
  readonly lastTransmission: Hex | undefined;
  /** How many other nodes hold evidence against it. */
  readonly accusers: number;
}

/** What one node reports about another; it may be lying. */
interface NodeView {
  readonly signer: Hex;
  readonly lastSeen: string | undefined;
  readonly lastTransmission: Hex | undefined;
  readonly contradictions: number;
  readonly same: number;
  readonly of: number;
}

/** Asks all nodes concurrently what they know about each other. Never rejects. */
export async function readNodeStates(
  nodes: readonly ConfiguredNode[],
  signal?: AbortSignal,
): Promise<readonly NodeState[]> {
  const answers = await Promise.all(
    nodes.map(({ url }) => askNode(url, signal).catch((error: unknown) => messageOf(error))),
  );
  return nodes.map((node, index) => {
    const answer = answers[index]!;
    const views = answers
      .filter((one, from) => from !== index && typeof one !== "string")
      .flatMap((one) => (one as readonly NodeView[]).filter(({ signer }) => signer === node.signer));
    return {
      ...node,
      trouble: typeof answer === "string" ? answer : undefined,
      isMember: typeof answer !== "string" && answer.some(({ signer }) => signer === node.signer),
      ...summarize(views),
    };
  });
}

function summarize(views: readonly NodeView[]) {
  const rates = views
    .filter(({ of }) => of > 0)
    .map(({ same, of }) => same / of)
    .toSorted((a, b) => a - b);
  const seen = views.flatMap(({ lastSeen = [] }) => lastSeen).toSorted();
  return {
    witnesses: views.length,
    lastSeen: seen[Math.floor(seen.length / 2)],
    agreementRate: rates[Math.floor(rates.length / 2)],
    lastTransmission: mostNamed(views.flatMap(({ lastTransmission = [] }) => lastTransmission)),
    accusers: views.filter(({ contradictions }) => contradictions > 0).length,
  };
}

/** Returns the hash that is named most often; the first in a tie. */
function mostNamed(hashes: readonly Hex[]): Hex | undefined {
  const counts = new Map<Hex, number>();
  for (const hash of hashes) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0];
}

async function askNode(url: string, signal: AbortSignal | undefined): Promise<readonly NodeView[]> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(endpointOf(url, "/readyz"), {
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
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
  if (networks === undefined) throw new Error("its /readyz is not that of a node");
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

/** Takes only well-formed members of a view, because its text is shown in terminals and on pages. */
function parseView(given: unknown): readonly NodeView[] {
  const { signer, lastSeen, lastTransmission, contradictions, agreement } = (given ?? {}) as Record<
    string,
    unknown
  >;
  const { same, of } = (agreement ?? {}) as Record<string, unknown>;
  if (typeof signer !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(signer)) return [];
  const count = countOf(of);
  return [
    {
      signer: signer as Hex,
      lastSeen: matching(lastSeen, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      lastTransmission: matching(lastTransmission, /^0x[0-9a-f]{64}$/) as Hex | undefined,
      contradictions: countOf(contradictions),
      same: Math.min(countOf(same), count),
      of: count,
    },
  ];
}

const matching = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === "string" && pattern.test(value) ? value : undefined;

const countOf = (value: unknown): number => (Number.isSafeInteger(value) ? Math.max(0, Number(value)) : 0);
