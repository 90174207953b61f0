import { hashMessage, type Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";
import type { SecretsHolder } from "../../secrets/holder.ts";
import type { ReportSigner } from "../signer.ts";
import { createBoundedMap } from "../../lib/boundedMap.ts";
import { createTokenBuckets } from "../../lib/tokenBucket.ts";
import type { Authority } from "./authority.ts";
import {
  checkSender,
  encodeGatewayBody,
  GatewayError,
  NODE_METHODS,
  OPERATOR_METHODS,
  parseGatewayMessage,
  parseUpload,
  type GatewayBody,
  type GatewayMessage,
} from "./gatewayMessage.ts";
import { assertInTime, runOperatorCall } from "./operatorCalls.ts";
import type { SharedKeys } from "./sharedKeys.ts";
import type { Vault } from "./vault.ts";

/** An oracle network behind a gateway. */
export interface GatewayNetwork {
  /**
   * Answers a message whose signature has been checked.
   *
   * @param from.text the message as it came.
   * @param from.caller whom limits count for.
   * @throws {TycheError} with blame `caller` if it can't be taken, any other error if the nodes can't be reached.
   */
  answer(message: GatewayMessage, from: { readonly text: string; readonly caller: string }): Promise<object>;
}

/** Answers functions-toolkit's `SecretsManager`. */
export interface Gateway {
  /**
   * Answers a JSON-RPC request; an error is an answer too.
   *
   * @param caller whom limits count for.
   */
  answer(text: string, caller: string): Promise<object>;
}

/** JSON-RPC 2.0, section 5.1: the method's parameters are invalid. */
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

/** Creates a gateway. */
export function createGateway(options: {
  /** Returns the networks of a `don_id`: the contracts of several may have been deployed with the same. */
  readonly find: (donId: string) => readonly GatewayNetwork[];
  /** Is told of errors that are not the sender's. */
  readonly onError: (error: unknown) => void;
}): Gateway {
  const { find, onError } = options;
  return {
    async answer(text, caller) {
      let id: string | null = null;
      try {
        const message = parseGatewayMessage(text);
        id = message.id;
        const [network, ...others] = find(message.body.don_id);
        if (network === undefined || others.length > 0) {
          const found = network === undefined ? "is no network" : `are ${others.length + 1} networks`;
          const named = `there ${found} with don_id ${message.body.don_id} whose nodes hold secrets`;
          const remedy = "their operator has to deploy all but one again under another name";
          return refuse(id, network === undefined ? named : `${named}; ${remedy}`);
        }
        return await network.answer(await checkSender(message), { text, caller });
      } catch (error) {
        if (error instanceof TycheError && error.blame === "caller") return refuse(id, error.message);
        onError(error);
        const reason = "the nodes can't be reached now; try again";
        return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message: reason } };
      }
    },
  };
}

/** Uploads of a caller, one of which is the service with those of its own callers: each asks the chain, by the operator's node, who its sender is. */
const UPLOADS = { burst: 100, perSecond: 20 } as const;
/** Memory for the ids of messages that the operator's service has sent: more than it sends before they are too old. */
const MAX_TAKEN_BYTES = 8_388_608;

/** Creates the network whose nodes in this process share one vault: all of them, or the only one of its operator. */
export function createGatewayNetwork(options: {
  readonly vault: Pick<Vault, "take" | "list">;
  readonly holder: Omit<Required<SecretsHolder>, "threshold">;
  readonly authority: Pick<Authority, "isService">;
  readonly signers: readonly Pick<ReportSigner, "sign" | "address">[];
  /** Absent where all nodes are in this process. */
  readonly sharedKeys?: Pick<SharedKeys, "answer"> | undefined;
}): GatewayNetwork {
  const { vault, holder, authority, signers, sharedKeys } = options;
  const [first] = signers;
  const uploads = createTokenBuckets(UPLOADS);
  const taken = createBoundedMap<string, true>(MAX_TAKEN_BYTES);
  /** A node could pass on what was sent to it, such as a slot that its owner has deleted since. */
  const assertForUs = ({ receiver }: GatewayBody): void => {
    if (receiver.toLowerCase() !== first!.address.toLowerCase())
      throw new GatewayError(`its receiver is not this node, ${first!.address}`);
  };
  return {
    async answer(message, { caller }) {
      const { id, body, sender } = message;
      const ofNode = NODE_METHODS.find((one) => one === body.method);
      if (ofNode !== undefined) {
        if (sharedKeys === undefined) throw new GatewayError("this network's nodes have one operator");
        assertForUs(body);
        const payload = await orRefusal(sharedKeys.answer(ofNode, body.payload, sender));
        return { jsonrpc: "2.0", id, result: sign({ ...body, payload }, first!) };
      }
      const method = OPERATOR_METHODS.find((one) => one === body.method);
      if (method !== undefined) {
        assertInTime(body.payload);
        if (sharedKeys !== undefined) assertForUs(body);
        if (!(await authority.isService(sender)))
          throw new GatewayError(`${sender} is not the account of this network's service`);
        if (taken.get(id)) throw new GatewayError("it was taken before");
        taken.set(id, true, 2 * id.length);
        const { payload: given } = body;
        const payload = await orRefusal(runOperatorCall(holder, { method, payload: given, owner: sender }));
        return { jsonrpc: "2.0", id, result: sign({ ...body, payload }, first!) };
      }
      if (body.method === "secrets_set" && !uploads.take(caller))
        throw new GatewayError("there are too many uploads now; send it again in a second");
      const payload = await run(message, vault);
      const responses = signers.map((signer) => sign({ ...body, payload }, signer));
      const whole = { success: payload.success, node_responses: responses };
      return { jsonrpc: "2.0", id, result: sign({ ...body, payload: whole }, first!) };
    },
  };
}

type NodeAnswer =
  | { readonly success: true; readonly rows?: readonly object[] }
  | { readonly success: false; readonly error_message: string };

async function run(message: GatewayMessage, vault: Pick<Vault, "take" | "list">): Promise<NodeAnswer> {
  const { body, sender } = message;
  if (body.method === "secrets_list") {
    const slots = await vault.list(sender);
    const rows = slots.map(({ slotId, version, expiresAt }) => ({
      slot_id: slotId,
      version,
      expiration: expiresAt,
    }));
    return { success: true, rows };
  }
  const upload = await parseUpload(message);
  return await orRefusal(vault.take({ ...upload, owner: sender }));
}

/** Turns an error that is the sender's into a node's answer. */
async function orRefusal(work: Promise<object | void>): Promise<NodeAnswer> {
  try {
    return { success: true, ...(await work) };
  } catch (error) {
    if (!(error instanceof TycheError && error.blame === "caller") || error instanceof GatewayError)
      throw error;
    return { success: false, error_message: messageOf(error) };
  }
}

function sign(
  body: GatewayBody,
  signer: Pick<ReportSigner, "sign">,
): { readonly body: GatewayBody; readonly signature: Hex } {
  return { body, signature: signPersonal(encodeGatewayBody(body), signer) };
}

/** Signs bytes with a node's key as a personal message (EIP-191). */
export function signPersonal(bytes: Uint8Array, signer: Pick<ReportSigner, "sign">): Hex {
  const { r, s, recoveryId } = signer.sign(fromHexText(hashMessage({ raw: bytes })));
  return toHexText(Uint8Array.of(...r, ...s, FIRST_RECOVERY_BYTE + recoveryId));
}

/** Ethereum's signatures end with 27 or 28. */
const FIRST_RECOVERY_BYTE = 27;

function refuse(id: string | null, message: string): object {
  return { jsonrpc: "2.0", id, error: { code: INVALID_PARAMS, message } };
}
