import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { MESSAGES_PATH } from "../../../src/oracle/node/peerClient.ts";

/** Size of a message's length field, and offset in its header of the sender's index, in bytes. */
const LENGTH_BYTES = 4;
const SENDER_OFFSET = 94;

/** Decides what happens to a body of messages: it is passed on, replaced, or dropped (`undefined`). */
export type PeerRule = (passage: {
  readonly from: number;
  readonly to: number;
  readonly body: Buffer;
}) => Promise<Buffer | undefined>;

/** The proxy between the nodes: peers reach each node through a port of its own. */
export interface PeerProxy {
  /** URLs at which the nodes' peers reach them. */
  readonly urls: readonly string[];
  /** Sets the rule; with `undefined` everything is passed on. */
  setRule(rule: PeerRule | undefined): void;
  close(): Promise<void>;
}

/** Opens a port in front of each node, given the ports that the nodes will listen on. */
export async function startPeerProxy(ports: readonly number[]): Promise<PeerProxy> {
  let rule: PeerRule | undefined;
  const pass = async (to: number, body: Buffer): Promise<number> => {
    const from = body[LENGTH_BYTES + SENDER_OFFSET]!;
    const passed = rule === undefined ? body : await rule({ from, to, body });
    // Lost in transit; the sender sends everything again.
    if (passed === undefined) return 204;
    const headers = { "content-type": "application/octet-stream" };
    const url = `http://127.0.0.1:${ports[to]}${MESSAGES_PATH}`;
    return (await fetch(url, { method: "POST", headers, body: new Uint8Array(passed) })).status;
  };
  const servers = await Promise.all(
    ports.map(async (_, to) => {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.once("end", () => {
          if (request.url !== MESSAGES_PATH) {
            const { method = "GET" } = request;
            const body = method === "POST" ? Buffer.concat(chunks) : null;
            fetch(`http://127.0.0.1:${ports[to]}${request.url}`, { method, body }).then(
              async (answer) => response.writeHead(answer.status).end(await answer.text()),
              () => response.destroy(),
            );
            return;
          }
          pass(to, Buffer.concat(chunks)).then(
            (status) => response.writeHead(status).end(),
            () => response.destroy(),
          );
        });
      });
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve);
      });
      return server;
    }),
  );
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    setRule(next) {
      rule = next;
    },
    async close() {
      await Promise.all(servers.map((server) => end(server)));
    },
  };
}

async function end(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await closed;
}

/** Splits a body into its messages. */
export function splitBody(body: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < body.length; at += LENGTH_BYTES + body.readUInt32BE(at))
    messages.push(body.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + body.readUInt32BE(at)));
  return messages;
}

/** Joins messages into a body. */
export function joinBody(messages: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(message.length);
      return [length, message];
    }),
  );
}
