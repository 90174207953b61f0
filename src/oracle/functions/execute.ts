import type { Hex } from "viem";
import {
  decodeFunctionsRequest,
  type FunctionsRequest,
  REQUEST_DATA_VERSION,
  sandboxGroup,
  withBeaconWord,
} from "../../chainlink/functionsRequest.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";
import { tellStep } from "../../lib/spans.ts";
import { truncateUtf8 } from "../../lib/truncateUtf8.ts";
import { toSandboxSecrets, type SandboxSecrets, type Secret } from "../../secrets/sealSecret.ts";
import type { Observation } from "../aggregateObservations.ts";
import type { OracleRequest } from "./oracleRequest.ts";
import type { RequestBeacons } from "../requestBeacons.ts";

/** The part of a sandbox pool that the nodes use. */
export interface SourceRunner {
  run(request: {
    readonly source: string;
    readonly args: readonly string[];
    readonly bytesArgs: readonly Hex[];
    readonly secrets?: Readonly<Record<string, string>>;
    readonly allowedHosts?: Readonly<Record<string, readonly string[]>>;
    readonly limits: { readonly maxResponseBytes: number };
    readonly caller: string;
    readonly group: string;
    readonly sharesContext: boolean;
    readonly signal: AbortSignal;
  }): Promise<
    | { readonly ok: true; readonly bytes: Uint8Array }
    | { readonly ok: false; readonly error: { readonly message: string } }
  >;
}

/** FunctionsRequest.sol `Location.Inline` and `CodeLanguage.JavaScript`. */
const INLINE = 0;
const JAVASCRIPT = 0;
/** The sandbox's error code for a run that no retry can make valid, e.g. with a source of 5 MB. */
const IMPOSSIBLE = "invalid_run";

/** Maximum number of function requests run concurrently, in all and of one subscription: one customer's slow sources leave room for others. The rest wait with the oracle, so that the sandbox's queue stays short for everyone else. */
export const RUNNING_FUNCTIONS = { total: 64, each: 16 } as const;

export interface RunOptions {
  readonly runner: SourceRunner;
  /** Number of nodes in the network; each runs the source on its own. */
  readonly nodes: number;
  /** Longest result and longest error text, in bytes. */
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Lets every node run a request's source and returns what each observed. Every request gets an answer: one that can't be run (remote
 * code, secrets that can't be opened, another language, malformed bytes, a round of drand that was known) yields an error that says so.
 *
 * @param options.router address of the FunctionsRouter
 * @throws what the runner throws when it can't take the run now (overloaded, closed), and `beacons`; nothing was observed then.
 */
export async function observe(
  request: OracleRequest,
  options: RunOptions & {
    readonly router: Hex;
    readonly openSecrets?: OpenSecrets | undefined;
    readonly beacons: Pick<RequestBeacons, "read">;
  },
): Promise<Observation[]> {
  const { router, nodes, maxResponseBytes, openSecrets } = options;
  const fail = (message: string): Observation[] =>
    Array.from({ length: nodes }, () => failure(message, maxResponseBytes));
  const parsed = parse(request);
  if (typeof parsed === "string") return fail(parsed);
  const opened = await open(parsed, request, openSecrets);
  if (typeof opened === "string") return fail(opened);
  const signature = options.beacons.read(request);
  if (typeof signature === "string") return fail(signature);
  const { source, args } = parsed;
  const { requestId } = request;
  const bytesArgs =
    signature === undefined ? parsed.bytesArgs : withBeaconWord(parsed.bytesArgs, { signature, requestId });
  const group = sandboxGroup(router, request.subscriptionId);
  const startMs = Date.now();
  const run = { source, args, bytesArgs, ...opened, group, sharesContext: false };
  const observations = await runSource(run, options);
  tellStep(requestId, { name: "run source", startMs, attributes: { "tyche.nodes": nodes } });
  return observations;
}

/** A run of a source. */
interface SourceRun {
  readonly source: string;
  readonly args: readonly string[];
  readonly bytesArgs: readonly Hex[];
  readonly secrets?: Readonly<Record<string, string>>;
  readonly allowedHosts?: Readonly<Record<string, readonly string[]>>;
  /** Fairness key, and who may share an isolate, see `sharesContext` of the sandbox. */
  readonly group: string;
  readonly sharesContext: boolean;
}

/** Lets every node run a source and returns what each observed; throws as {@link observe} does. */
export async function runSource(run: SourceRun, options: RunOptions): Promise<Observation[]> {
  const { runner, nodes, maxResponseBytes, signal } = options;
  const request = { ...run, limits: { maxResponseBytes }, caller: run.group, signal };
  const runs = await Promise.allSettled(Array.from({ length: nodes }, () => runner.run(request)));
  return runs.map((outcome) => {
    if (outcome.status === "rejected") return refusal(outcome.reason, maxResponseBytes);
    const result = outcome.value;
    if (!result.ok) return failure(result.error.message, maxResponseBytes);
    return { ok: true, bytes: result.bytes };
  });
}

/** Returns the request to run, or the reason it can't be run. */
function parse(request: OracleRequest): FunctionsRequest | string {
  if (request.dataVersion !== REQUEST_DATA_VERSION)
    return `unsupported request data version ${request.dataVersion}: only ${REQUEST_DATA_VERSION} is known`;
  let parsed: FunctionsRequest;
  try {
    parsed = decodeFunctionsRequest(request.data);
  } catch (error) {
    return messageOf(error);
  }
  if (parsed.codeLocation !== INLINE) return "unsupported code location: only inline source is run";
  if (parsed.language !== JAVASCRIPT) return "unsupported language: only JavaScript is run";
  return parsed;
}

/** Opens what a request names; its errors of class {@link TycheError} with blame `caller` are the request's answer. */
export type OpenSecrets = (
  request: SecretsOfRequest,
  of: Pick<OracleRequest, "requestId" | "subscriptionId" | "blockNumber">,
) => Promise<readonly Secret[]>;

/** What a request says of its secrets. */
export type SecretsOfRequest = Pick<FunctionsRequest, "secrets" | "secretsLocation">;

/** Returns a request's secrets as the sandbox takes them, or the reason why it can't have them. */
async function open(
  parsed: FunctionsRequest,
  request: OracleRequest,
  openSecrets: OpenSecrets | undefined,
): Promise<SandboxSecrets | string> {
  if (parsed.secrets === undefined) return {};
  if (openSecrets === undefined) return "unsupported secrets: this network has no key to decrypt them";
  try {
    return toSandboxSecrets(await openSecrets(parsed, request));
  } catch (error) {
    if (error instanceof TycheError && error.blame === "caller") return error.message;
    throw error;
  }
}

/** A run that the caller's own request made impossible is an answer; any other error is rethrown to be retried. */
function refusal(error: unknown, maxResponseBytes: number): Observation {
  if ((error as { code?: unknown } | null)?.code !== IMPOSSIBLE) throw error;
  return failure(messageOf(error), maxResponseBytes);
}

/** Returns the observation of a run that failed. */
export function failure(message: string, maxBytes: number): Observation {
  return { ok: false, bytes: truncateUtf8(message, maxBytes) };
}
