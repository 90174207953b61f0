import { isAddressEqual, isHex, recoverMessageAddress, type Hex } from "viem";
import { endpointOf } from "../../chainlink/offchainConfig.ts";
import { TycheError } from "../../lib/errors.ts";
import { createId } from "../../domain/id.ts";
import { isObject } from "../../lib/isObject.ts";
import { encodeGatewayBody, isGatewayBody, type GatewayBody } from "./gatewayMessage.ts";

/** Path at which an oracle's process takes messages about secrets. */
export const GATEWAY_PATH = "/gateway";
/** Longest answer: a console of 64 KiB, of which JSON may make six times as much, and a result. Bytes. */
const MAX_ANSWER_BYTES = 1_048_576;
/** Characters of an oracle's reason that callers see. */
const MAX_REASON_CHARS = 300;

/** Sends messages to the gateway of an oracle's process. */
export interface GatewayClient {
  /**
   * Sends a message and returns the payload of its answer.
   *
   * @throws {TycheError} `secrets_unreadable` if a node refuses, and {@link GatewayAwayError} without an answer that a node has signed.
   */
  ask(
    method: GatewayBody["method"],
    payload: object,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Passes a message of somebody else's on, and returns the answer as it comes. */
  post(text: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
}

/** Creates the client of one gateway. */
export function createGatewayClient(options: {
  /** URL of the oracle's process. */
  readonly oracleUrl: string;
  readonly donId: string;
  /** The nodes of which one must sign each answer. */
  readonly signers: readonly Hex[];
  /** The only node that may take a message; absent where all nodes are in one process. */
  readonly receiver?: Hex | undefined;
  /** Signs the bytes of a message as a personal message (EIP-191). */
  readonly sign: (bytes: Uint8Array) => Promise<Hex> | Hex;
}): GatewayClient {
  const { donId, signers, receiver = "", sign } = options;
  const url = endpointOf(options.oracleUrl, GATEWAY_PATH);

  /** Returns the payload of an answer that a node has signed, to a message of ours. */
  async function readAnswer(
    { result, error }: Readonly<Record<string, unknown>>,
    asked: GatewayBody,
  ): Promise<Readonly<Record<string, unknown>>> {
    if (isObject(error) && typeof error["message"] === "string")
      throw new GatewayAwayError(`answers: ${error["message"].slice(0, MAX_REASON_CHARS)}`);
    const { body, signature } = isObject(result) ? result : {};
    const signer = await recoverSigner(body, signature).catch(() => undefined);
    if (
      !isGatewayBody(body) ||
      signer === undefined ||
      !signers.some((one) => isAddressEqual(one, signer)) ||
      (["message_id", "method", "don_id"] as const).some((name) => body[name] !== asked[name])
    )
      throw new GatewayAwayError("gives an answer that no node of the network has signed; check oracleUrl");
    const payload = isObject(body.payload) ? body.payload : {};
    if (payload["success"] === true) return payload;
    const { error_message: reason } = payload;
    const why = typeof reason === "string" ? reason.slice(0, MAX_REASON_CHARS) : "the oracle gives no reason";
    throw new TycheError(why, { code: "secrets_unreadable", blame: "caller" });
  }

  return {
    async ask(method, payload, signal) {
      const id = createId("msg");
      const body: GatewayBody = { message_id: id, method, don_id: donId, receiver, payload };
      const signature = await sign(encodeGatewayBody(body));
      const message = { jsonrpc: "2.0", id, method, params: { body, signature } };
      const answer = await post(url, JSON.stringify(message), signal).catch((error: unknown) => {
        throw new GatewayAwayError("can't be reached", error);
      });
      return await readAnswer(answer, body);
    },
    post: (text, signal) => post(url, text, signal),
  };
}

/** Recovers who signed an answer. Rejects for one that can't be encoded: its payload may be nested a million times. */
async function recoverSigner(body: unknown, signature: unknown): Promise<Hex | undefined> {
  if (!isGatewayBody(body) || !isHex(signature)) return undefined;
  return await recoverMessageAddress({ message: { raw: encodeGatewayBody(body) }, signature });
}

/** Sends a message to an oracle's gateway and returns its answer, an object. */
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

/** An oracle's process gives no answer of a node. The message continues a sentence about it. */
export class GatewayAwayError extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
  }
}
