import { createId } from "../../lib/id.ts";
import { hexToString, isAddressEqual, isHex, recoverMessageAddress, type Hex } from "viem";
import { endpointOf } from "../../chainlink/offchainConfig.ts";
import { TycheError } from "../../lib/errors.ts";
import { isObject } from "../../lib/isObject.ts";
import { ChainUnavailableError } from "../../networks/chainUnavailable.ts";
import type { ContractsFile } from "../../networks/external/contractsFile.ts";
import type { NetworkChain } from "../../networks/network.ts";
import { createTokenBuckets } from "../../oracle/node/tokenBucket.ts";
import type { GatewayNetwork } from "../../oracle/secrets/gateway.ts";
import {
  encodeGatewayBody,
  GatewayError,
  isGatewayBody,
  OPERATOR_METHODS,
  type GatewayBody,
  type OperatorMethod,
} from "../../oracle/secrets/gatewayMessage.ts";
import { parseDescribed, parseRun, type OperatorPayload } from "../../oracle/secrets/operatorCalls.ts";
import type { ThresholdPublicKey } from "../../secrets/tdh2.ts";
import type { SecretsHolder } from "../../requests/serviceNetwork.ts";
import type { OracleSecrets } from "./servedNetworkOptions.ts";

/** Path at which an oracle in a process of its own takes messages about secrets. */
export const GATEWAY_PATH = "/gateway";

/** Time for an answer that needs no source to run, and for one that does: ten seconds, and its place in the sandbox's queue. */
const TIMEOUT_MS = 10_000;
const RUN_TIMEOUT_MS = 30_000;
/** How long a message holds: a recorded one is worth nothing afterwards. */
const VALID_MS = 120_000;
/** Longest answer: a console of 64 KiB, of which JSON may make six times as much, and a result. Bytes. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Characters of an oracle's reason that callers see. */
const MAX_REASON_CHARS = 300;
/** Messages of others that are passed on: the oracle takes twice as many from an address, so the service's own still get through. */
const FORWARDED = { burst: 100, perSecond: 50 } as const;
/** Those of one caller, so that nobody uses up all of them. */
const FORWARDED_OF_CALLER = { burst: 20, perSecond: 10 } as const;

/**
 * Connects to the secrets of an oracle that runs in a process of its own. The service stores ciphertexts there, has sources run there, and is
 * sent what they return. Each message is signed by the operator, whom the oracle knows from the chain, and each answer by a node.
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
  if (offchainConfig !== undefined)
    return "its nodes have several operators, and only the nodes of a single one can hold secrets yet";
  if (secretKeys === undefined)
    return "its contracts were deployed without keys for secrets; run `tyche oracle keys --json` again, and `tyche network deploy` with its output";
  if (oracleUrl === undefined)
    return `the operator has to set networks.${network}.oracleUrl, at which the service reaches the oracle`;
  const url = endpointOf(oracleUrl, GATEWAY_PATH);

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
    const now = Date.now();
    const id = createId("msg", now);
    const body: GatewayBody = {
      message_id: id,
      method,
      don_id: contracts.donId,
      receiver: "",
      payload: { validUntil: now + VALID_MS, ...payload },
    };
    const signature = await chain.operator.signMessage(encodeGatewayBody(body));
    const message = { jsonrpc: "2.0", id, method, params: { body, signature } };
    const timeout = AbortSignal.timeout(timeoutMs);
    const stop = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    const answer = await post(url, JSON.stringify(message), stop).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw refused("can't be reached", error);
    });
    const found = read(await readAnswer(answer, body));
    if (found === undefined) throw refused("gives a malformed answer; are both of the same version?");
    return found;
  };

  const refused = (why: string, cause?: unknown): ChainUnavailableError =>
    new ChainUnavailableError(network, `the oracle, which holds the secrets, ${why}`, cause);

  /** Returns the payload of an answer that a node has signed, to a message of ours. */
  async function readAnswer(
    { result, error }: Readonly<Record<string, unknown>>,
    asked: GatewayBody,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (isObject(error) && typeof error["message"] === "string")
      throw refused(`answers: ${error["message"].slice(0, MAX_REASON_CHARS)}`);
    const { body, signature } = isObject(result) ? result : {};
    const signer = await recoverSigner(body, signature).catch(() => undefined);
    if (
      !isGatewayBody(body) ||
      signer === undefined ||
      !signers.some((one) => isAddressEqual(one, signer)) ||
      (["message_id", "method", "don_id"] as const).some((name) => body[name] !== asked[name])
    )
      throw refused("gives an answer that no node of the network has signed; check oracleUrl");
    const payload = isObject(body.payload) ? body.payload : {};
    if (payload["success"] === true) return payload;
    const { error_message: reason } = payload;
    const why = typeof reason === "string" ? reason.slice(0, MAX_REASON_CHARS) : "the oracle gives no reason";
    throw new TycheError(why, { code: "secrets_unreadable", blame: "caller" });
  }

  const wire = ({
    reference,
    subscriptionId,
  }: {
    readonly reference: Hex;
    readonly subscriptionId: bigint;
  }) => ({
    reference,
    subscriptionId: String(subscriptionId),
  });
  const holder: SecretsHolder = {
    threshold: JSON.parse(hexToString(secretKeys.thresholdPublicKey)) as ThresholdPublicKey,
    keep: async ({ owner: _, ...slot }) => void (await ask("operator_keep", { slot }, () => true)),
    drop: async (_, slotIds) => void (await ask("operator_drop", { slotIds }, () => true)),
    describe: async (slots) =>
      await ask("operator_describe", wire(slots), ({ secrets }) => parseDescribed(secrets)),
    async run(slots, { source, args = [], limits, signal }) {
      const run = { ...wire(slots), source, args, maxBytes: limits!.maxResponseBytes! };
      return await ask("operator_run", run, parseRun, { timeoutMs: RUN_TIMEOUT_MS, signal });
    },
  };
  const forwarded = createTokenBuckets(FORWARDED);
  const forwardedOf = createTokenBuckets(FORWARDED_OF_CALLER);
  const gateway: GatewayNetwork = {
    async answer({ id, body: { method } }, { text, caller }) {
      if (OPERATOR_METHODS.some((one) => one === method))
        throw new GatewayError("the service passes on messages of functions-toolkit only");
      if (!forwardedOf.take(caller) || !forwarded.take("all"))
        throw new GatewayError("too many are passed on to the oracle now; send it again in a second");
      const answer = await post(url, text, AbortSignal.timeout(TIMEOUT_MS));
      return { ...answer, id };
    },
  };
  return { holder, gateway };
}

type DistributiveOmit<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never;

/** Recovers who signed an answer. Rejects for one that can't be encoded: its payload may be nested a million times. */
async function recoverSigner(body: unknown, signature: unknown): Promise<Hex | undefined> {
  if (!isGatewayBody(body) || !isHex(signature)) return undefined;
  return await recoverMessageAddress({ message: { raw: encodeGatewayBody(body) }, signature });
}

/** Sends a message to the oracle's gateway and returns its answer, an object. */
async function post(url: URL, text: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: text,
    redirect: "error",
    signal,
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`its answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (response.status !== 200) throw new Error(`it answers with status ${response.status}`);
  const answer: unknown = JSON.parse(Buffer.concat(chunks).toString());
  if (isObject(answer)) return answer;
  throw new Error("its answer is no JSON object");
}
