import type { IncomingMessage, ServerResponse } from "node:http";
import { addressGroup } from "../lib/addressGroup.ts";
import { MAX_BODY_BYTES } from "../oracle/node/peerClient.ts";
import { peekAddressee } from "../oracle/protocol/wire.ts";
import type { OracleNetwork } from "./oracleNetwork.ts";

/** Of another configuration than the node has read by now: peers say everything again. */
const STATUS = { taken: 204, malformed: 400, limited: 429, elsewhere: 503 } as const;

/** Takes a body of messages from a peer, or from anybody who says to be one. The answer tells nothing but a status. */
export function takeMessages(
  request: IncomingMessage,
  response: ServerResponse,
  { networks, trustProxy }: { readonly networks: readonly OracleNetwork[]; readonly trustProxy: boolean },
): void {
  const answer = (status: number): void => {
    if (!response.headersSent)
      response
        .writeHead(status, { "content-length": 0, connection: status === 204 ? "keep-alive" : "close" })
        .end();
  };
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
    // It has not read the chain yet; peers say everything again.
    if (node === undefined) return answer(503);
    return answer(STATUS[node.take(body, callerOf(request, trustProxy))]);
  });
}

/** The caller that limits count for. A proxy appends the address that it saw; what stands before that is the caller's own word. */
function callerOf({ headers, socket }: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? headers["x-forwarded-for"] : undefined;
  const last = String(forwarded ?? "")
    .split(",")
    .at(-1)
    ?.trim();
  return addressGroup(last || (socket.remoteAddress ?? ""));
}
