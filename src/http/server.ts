import { STATUS_CODES, createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createHttpApp, type HttpAppOptions } from "./app.ts";
import { errorAnswer } from "./answer.ts";
import { ERROR_TABLE, type ErrorCode } from "./errorTable.ts";
import { DEFAULT_LIMITS, type HttpLimits } from "./limits.ts";

export interface StartHttpOptions extends Omit<HttpAppOptions, "closing" | "closingHard"> {
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface HttpServer {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops taking connections and ends event streams at once; calls under way end with their answer, after `limits.closeGraceMs` with
   * 504 `still_pending`. Resolves when the last connection is closed. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * Creates the application and listens. Rejects with Node's own error when the port is taken (`EADDRINUSE`) or not permitted.
 */
export async function startHttp(options: StartHttpOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const closing = new AbortController();
  const closingHard = new AbortController();
  const app = createHttpApp({ ...options, closing: closing.signal, closingHard: closingHard.signal });
  const answer = app.callback();
  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
      noDelay: true,
    },
    (request, response) => {
      // Once closing, a connection that falls idle is closed at once instead of after its keep-alive time.
      response.once("close", () => {
        if (closing.signal.aborted) setImmediate(() => server.closeIdleConnections());
      });
      void answer(request, response);
    },
  );
  server.maxConnections = limits.maxConnections;
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(error, socket));
  server.on("checkExpectation", (_request, response) => refuseExpectation(response));

  await listening(server, options.port, options.host ?? "127.0.0.1");
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${host}:${port}`,
    port,
    close: () => (closed ??= close(server, { limits, closing, closingHard })),
  };
}

async function close(
  server: Server,
  options: {
    readonly limits: HttpLimits;
    readonly closing: AbortController;
    readonly closingHard: AbortController;
  },
): Promise<void> {
  const { limits, closing, closingHard } = options;
  const ended = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  closing.abort();
  server.closeIdleConnections();
  const soft = setTimeout(() => closingHard.abort(), limits.closeGraceMs);
  // Waits end with the signal above; what is left after one more second is a caller that doesn't read its answer.
  const hard = setTimeout(() => server.closeAllConnections(), limits.closeGraceMs + 1000);
  await ended;
  clearTimeout(soft);
  clearTimeout(hard);
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Answers what Node's parser refused, in the API's envelope; there is no request object to go through the application with. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  const { status, data } = errorAnswer(code, ERROR_TABLE[code].meaning);
  const body = JSON.stringify({ data });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      "Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function codeOf(error: NodeJS.ErrnoException): ErrorCode {
  if (error.code === "HPE_HEADER_OVERFLOW") return "headers_too_large";
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  return "malformed_http";
}

function refuseExpectation(response: ServerResponse): void {
  const { status, data } = errorAnswer("expectation_failed", ERROR_TABLE.expectation_failed.meaning);
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Connection: "close",
  });
  response.end(JSON.stringify({ data }));
}
