import type { IncomingMessage, ServerResponse } from "node:http";
import { MAX_BODY_BYTES } from "../../oracle/node/peerClient.ts";
import { peekAddressee } from "../../oracle/protocol/wire.ts";
import type { TokenBuckets } from "../../oracle/node/tokenBucket.ts";
import type { OracleNetwork } from "./oracleNetwork.ts";

/** HTTP status by outcome. `elsewhere`: the message is for another configuration than the node has read so far; peers resend everything. */
const STATUS = { taken: 204, malformed: 400, limited: 429, elsewhere: 503 } as const;

/**
 * Limits bodies per address of which a node accepts nothing: for another network, or for another configuration than it has read. A peer
 * sends four a second until it is ready, and resends them when told to wait.
 */
export const REFUSALS = { burst: 500, perSecond: 100 } as const;

interface TakeOptions {
  readonly networks: readonly OracleNetwork[];
  /** Whom limits count for. */
  readonly caller: string;
  /** Token buckets for {@link REFUSALS}. */
  readonly refusals: TokenBuckets;
}

/** Accepts a body of messages from a peer, or from anyone who claims to be one. The response reveals only a status. */
export function takeMessages(
  request: IncomingMessage,
  response: ServerResponse,
  { networks, caller, refusals }: TakeOptions,
): void {
  const answer = (status: number): void => {
    if (response.headersSent) return;
    if (status !== STATUS.taken) refusals.take(caller);
    const connection = status === STATUS.taken ? "keep-alive" : "close";
    response.writeHead(status, { "content-length": 0, connection }).end();
  };
  // Over the limit, bodies are not even read.
  if (!refusals.has(caller)) return answer(STATUS.limited);
  if (Number(request.headers["content-length"] ?? MAX_BODY_BYTES + 1) > MAX_BODY_BYTES) return answer(413);
  const chunks: Buffer[] = [];
  let length = 0;
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) return chunks.push(chunk);
    answer(413);
    return request.destroy();
  });
  request.once("end", () => {
    const body = Buffer.concat(chunks);
    const to = peekAddressee(body);
    const network = networks.find(
      ({ address }) =>
        address !== undefined &&
        BigInt(address.chainId) === to?.chainId &&
        address.coordinator === to.coordinator,
    );
    if (network === undefined) return answer(404);
    const node = network.node();
    // The node has not read the chain yet; peers resend everything.
    if (node === undefined) return answer(503);
    return answer(STATUS[node.take(body, caller)]);
  });
}
