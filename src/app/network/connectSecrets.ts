import { hexToString, type Hex } from "viem";
import type { RunRequest } from "../../../sandbox/index.ts";
import { parseNodeUrls } from "../../chainlink/offchainConfig.ts";
import { faultyNodesOf } from "../../chainlink/quorum.ts";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";
import type { ContractsFile } from "../../networks/external/contractsFile.ts";
import type { NetworkChain } from "../../networks/network.ts";
import { createTokenBuckets } from "../../lib/tokenBucket.ts";
import type { GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import {
  createGatewayClient,
  GatewayAwayError,
  type GatewayClient,
} from "../../oracle/secrets/gatewayClient.ts";
import { GatewayError, TOOLKIT_METHODS, type OperatorMethod } from "../../oracle/secrets/gatewayMessage.ts";
import { parseDescribed, parseRun, type OperatorPayload } from "../../oracle/secrets/operatorCalls.ts";
import { firstGenerator } from "../../secrets/keyGeneration.ts";
import type { ThresholdPublicKey } from "../../secrets/tdh2.ts";
import type { NamedSlots, SecretsHolder } from "../../secrets/holder.ts";

/** Time for an answer that needs no source to run, and for one that does: ten seconds, and its place in the sandbox's queue. */
const TIMEOUT_MS = 10_000;
const RUN_TIMEOUT_MS = 30_000;
/** How long a message holds: a recorded one is worth nothing afterwards. */
const VALID_MS = 120_000;
/** Messages of others that are passed on: the oracle takes twice as many from an address, so the service's own still get through. */
const FORWARDED = { burst: 100, perSecond: 50 } as const;
/** Those of one caller, so that nobody uses up all of them. */
const FORWARDED_OF_CALLER = { burst: 20, perSecond: 2 } as const;

/** Where a network's oracle holds secrets, in this process or in its own. */
export interface OracleSecrets {
  readonly holder: SecretsHolder;
  /** Answers `SecretsManager`. */
  readonly gateway: GatewayNetwork;
}

/**
 * Connects to the secrets of an oracle that runs in processes of its own: one, or those of nodes of several operators. The service stores
 * ciphertexts there. A single process also runs sources, and sends what they return; nodes of several operators open secrets only for requests
 * on chain. Each message is signed by the operator, whom the oracle knows from the chain, and each answer by a node.
 *
 * @returns the reason if the oracle can hold no secrets.
 */
export function connectSecrets(options: {
  readonly network: string;
  readonly contracts: ContractsFile;
  readonly oracleUrl: string | undefined;
  readonly chain: Pick<NetworkChain, "operator">;
}): OracleSecrets | string {
  const { network, contracts, oracleUrl, chain } = options;
  const { secretKeys, signers, offchainConfig } = contracts.oracle.functions;
  const nodeUrls = offchainConfig && parseNodeUrls(offchainConfig, signers.length);
  if (secretKeys === undefined)
    return nodeUrls === undefined
      ? "its contracts were deployed without keys for secrets; run `tyche oracle keys --json` again, and `tyche network deploy` with its output"
      : `its nodes' key for secrets is not published; run \`tyche network secrets ${network}\`, and start the service again`;
  if (nodeUrls === undefined && oracleUrl === undefined)
    return `the operator has to set networks.${network}.oracleUrl, at which the service reaches the oracle`;
  const connect = (url: string, nodes: readonly Hex[]): GatewayClient =>
    createGatewayClient({
      oracleUrl: url,
      donId: contracts.donId,
      signers: nodes,
      receiver: nodeUrls && nodes[0],
      sign: (bytes) => chain.operator.signMessage(bytes),
    });
  const clients = nodeUrls?.map((url, node) => connect(url, [signers[node]!])) ?? [
    connect(oracleUrl!, signers),
  ];
  const threshold = JSON.parse(hexToString(secretKeys.thresholdPublicKey)) as ThresholdPublicKey;
  /** Clients that may fail: f of several nodes. */
  const tolerated = nodeUrls === undefined ? 0 : faultyNodesOf(signers.length);

  const away = (why: string, cause?: unknown): ChainUnavailableError =>
    new ChainUnavailableError(network, `the oracle, which holds the secrets, ${why}`, cause);

  /** @param read parses the answer; `undefined` if it is malformed. */
  const ask = async <Answer>(
    method: OperatorMethod,
    payload: DistributiveOmit<OperatorPayload, "validUntil">,
    read: (answer: Readonly<Record<string, unknown>>) => Answer | undefined,
    {
      timeoutMs = TIMEOUT_MS,
      signal,
    }: { readonly timeoutMs?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Answer> => {
    const whole = { validUntil: Date.now() + VALID_MS, ...payload };
    const timeout = AbortSignal.timeout(timeoutMs);
    const stop = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    const asked = clients.map((client) => client.ask(method, whole, stop));
    const [first] = await mostOf(asked, tolerated).catch((error: unknown) => {
      if (signal?.aborted || !(error instanceof GatewayAwayError)) throw error;
      throw away(error.message, error.cause);
    });
    const found = read(first!);
    if (found === undefined) throw away("gives a malformed answer; are both of the same version?");
    return found;
  };

  const wire = ({ reference, subscriptionId }: NamedSlots) => ({
    reference,
    subscriptionId: String(subscriptionId),
  });
  const holder: SecretsHolder = {
    // What the service and its clients encrypt names its dapp, and stays valid when the nodes change.
    threshold: { ...threshold, G_bar: firstGenerator(threshold) },
    keep: async ({ owner: _, ...slot }) => void (await ask("operator_keep", { slot }, () => true)),
    drop: async (_, slotIds) => void (await ask("operator_drop", { slotIds }, () => true)),
    ...(nodeUrls === undefined && {
      describe: async (slots: NamedSlots) =>
        await ask("operator_describe", wire(slots), ({ secrets }) => parseDescribed(secrets)),
      async run(slots: NamedSlots, { source, args = [], limits, signal }: RunRequest) {
        const run = { ...wire(slots), source, args, maxBytes: limits!.maxResponseBytes! };
        return await ask("operator_run", run, parseRun, { timeoutMs: RUN_TIMEOUT_MS, signal });
      },
    }),
  };
  const forwarded = createTokenBuckets(FORWARDED);
  const forwardedOf = createTokenBuckets(FORWARDED_OF_CALLER);
  const gateway: GatewayNetwork = {
    async answer({ id, body }, { text, caller }) {
      if (!TOOLKIT_METHODS.some((one) => one === body.method))
        throw new GatewayError("the service passes on messages of functions-toolkit only");
      if (!forwardedOf.take(caller) || !forwarded.take("all"))
        throw new GatewayError("too many are passed on to the oracle now; send it again in a second");
      const pass = (client: GatewayClient): Promise<ToolkitAnswer> =>
        client.post(text, AbortSignal.timeout(TIMEOUT_MS));
      if (clients.length === 1) return { ...(await pass(clients[0]!)), id };
      try {
        const answers = await mostOf(
          clients.map(async (client) => {
            const answer = await pass(client);
            const { success, node_responses: responses = [] } = answer.result?.body?.payload ?? {};
            if (success === true) return responses;
            throw new RefusedAnswer(answer);
          }),
          tolerated,
        );
        // Whose signatures count are the nodes'.
        const payload = { success: true, node_responses: answers.flat() };
        return { jsonrpc: "2.0", id, result: { body: { ...body, payload }, signature: "0x" } };
      } catch (error) {
        if (error instanceof RefusedAnswer) return { ...error.answer, id };
        throw error;
      }
    },
  };
  return { holder, gateway };
}

/** A node's answer to functions-toolkit, as far as it is what it should be. */
interface ToolkitAnswer {
  readonly result?: {
    readonly body?: {
      readonly payload?: { readonly success?: boolean; readonly node_responses?: readonly object[] };
    };
  };
}

/** A node refuses a message. */
class RefusedAnswer extends Error {
  readonly answer: object;
  constructor(answer: object) {
    super("a node refuses the message");
    this.answer = answer;
  }
}

/**
 * Waits for all but `tolerated` of several; rejects with an error as soon as more than that have failed, a node's refusal before any other.
 */
function mostOf<Value>(several: readonly Promise<Value>[], tolerated: number): Promise<readonly Value[]> {
  return new Promise((resolve, reject) => {
    const values: Value[] = [];
    const errors: unknown[] = [];
    for (const one of several)
      one.then(
        (value) => {
          if (values.push(value) === several.length - tolerated) resolve([...values]);
        },
        (error: unknown) => {
          if (errors.push(error) > tolerated)
            reject(errors.find((known) => !(known instanceof GatewayAwayError)) ?? error);
        },
      );
  });
}

type DistributiveOmit<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never;
