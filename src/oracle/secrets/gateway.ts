import { hashMessage, type Hex } from "viem";
import { fromHexText, toHexText } from "../../lib/hex.ts";
import { messageOf, TycheError } from "../../lib/errors.ts";
import type { ReportSigner } from "../signer.ts";
import { encodeGatewayBody, parseGatewayMessage, parseUpload } from "./gatewayMessage.ts";
import type { GatewayBody, GatewayMessage } from "./gatewayMessage.ts";
import type { Vault } from "./vault.ts";

/** An oracle network behind a gateway: all its nodes share one vault. */
export interface GatewayNetwork {
  readonly vault: Pick<Vault, "take" | "list">;
  readonly signers: readonly Pick<ReportSigner, "sign">[];
}

/** Answers functions-toolkit's `SecretsManager`. */
export interface Gateway {
  /** Answers a JSON-RPC request; an error is an answer too. */
  answer(text: string): Promise<object>;
}

/** JSON-RPC 2.0, section 5.1: the method's parameters are invalid. */
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

/** Creates a gateway. */
export function createGateway(options: {
  /** Returns the network of a `don_id`. */
  readonly find: (donId: string) => GatewayNetwork | undefined;
  /** Is told of errors that are not the sender's. */
  readonly onError: (error: unknown) => void;
}): Gateway {
  const { find, onError } = options;
  const answerTo = async (message: GatewayMessage): Promise<object> => {
    const { id, body } = message;
    const network = find(body.don_id);
    if (network === undefined) return refuse(id, `there is no network with don_id ${body.don_id}`);
    const payload = await run(message, network.vault);
    const responses = network.signers.map((signer) => sign({ ...body, payload }, signer));
    const [first] = network.signers;
    const whole = { success: payload.success, node_responses: responses };
    return { jsonrpc: "2.0", id, result: sign({ ...body, payload: whole }, first!) };
  };
  return {
    async answer(text) {
      let id: string | null = null;
      try {
        const message = await parseGatewayMessage(text);
        id = message.id;
        return await answerTo(message);
      } catch (error) {
        if (error instanceof TycheError && error.blame === "caller") return refuse(id, error.message);
        onError(error);
        const reason = "the nodes can't be reached now; try again";
        return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message: reason } };
      }
    },
  };
}

type NodeAnswer =
  | { readonly success: true; readonly rows?: readonly object[] }
  | { readonly success: false; readonly error_message: string };

async function run(message: GatewayMessage, vault: GatewayNetwork["vault"]): Promise<NodeAnswer> {
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
  try {
    await vault.take({ ...upload, owner: sender });
    return { success: true };
  } catch (error) {
    if (!(error instanceof TycheError && error.blame === "caller")) throw error;
    return { success: false, error_message: messageOf(error) };
  }
}

function sign(
  body: GatewayBody,
  signer: Pick<ReportSigner, "sign">,
): { readonly body: GatewayBody; readonly signature: Hex } {
  const { r, s, recoveryId } = signer.sign(fromHexText(hashMessage({ raw: encodeGatewayBody(body) })));
  return { body, signature: toHexText(Uint8Array.of(...r, ...s, FIRST_RECOVERY_BYTE + recoveryId)) };
}

/** Ethereum's signatures end with 27 or 28. */
const FIRST_RECOVERY_BYTE = 27;

function refuse(id: string | null, message: string): object {
  return { jsonrpc: "2.0", id, error: { code: INVALID_PARAMS, message } };
}
