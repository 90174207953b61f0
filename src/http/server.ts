import {
  STATUS_CODES,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createHttpApp, type HttpAppOptions } from "./app.ts";
import { errorAnswer } from "./answer.ts";
import { ERROR_TABLE, type ErrorCode } from "./errorTable.ts";
import { hostNameOf, isLoopbackAddress, isUnspecifiedAddress } from "../lib/loopback.ts";
import { closeIfStalled } from "../lib/stalledReaders.ts";
import { limitConnections } from "./connectionLimit.ts";
import { DEFAULT_LIMITS } from "../config/httpLimits.ts";

/** How long a caller may take to read its last response, and to close its side of a refused connection. */
const CLOSE_CONNECTIONS_MS = 1_000;

export interface StartHttpOptions extends Omit<HttpAppOptions, "leaving" | "closing" | "closingHard"> {
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
}

export interface HttpServer {
  /** Base URL at which this machine reaches it, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Makes `/readyz` answer 503 at once. After `limits.drainDelayMs`, ends event streams and refuses new calls with `overloaded`, while the
   * port stays open. Calls in flight end with their response or, after another `limits.closeGraceMs`, with 504 `still_pending`. Resolves
   * when none is left. Idempotent.
   */
  drain(): Promise<void>;
  /** Drains, then stops listening. Resolves when the last connection is closed. Idempotent. */
  close(): Promise<void>;
}

/** Creates the application and listens. Rejects with Node's own error if the port is taken (`EADDRINUSE`) or not permitted. */
export async function startHttp(options: StartHttpOptions): Promise<HttpServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const leaving = new AbortController();
  const closing = new AbortController();
  const closingHard = new AbortController();
  const app = createHttpApp({
    ...options,
    leaving: leaving.signal,
    closing: closing.signal,
    closingHard: closingHard.signal,
  });
  const answer = app.callback();
  const underWay = new Set<ServerResponse>();
  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    // The connection was refused; what it sends is not read.
    if (request.socket.writableEnded) return;
    closeIfStalled(response);
    underWay.add(response);
    if (closing.signal.aborted) endConnection(response);
    response.once("close", () => underWay.delete(response));
    const host = findHostProblem(request, options.trustProxy === true);
    if (host !== undefined) refuseRequest(response, "malformed_http", host);
    else if (!isTarget(request.url ?? ""))
      refuseRequest(response, "malformed_http", "the request's target is neither a path nor a URL");
    else void answer(request, response);
  };
  const server = createServer(
    {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs),
      noDelay: true,
    },
    receive,
  );
  server.maxConnections = limits.maxConnections;
  // A proxy's connections are those of all its callers, and what runs on this machine can do worse than connect.
  if (options.trustProxy !== true)
    limitConnections(server, {
      most: limits.maxConnectionsPerAddress,
      isExempt: isLoopbackAddress,
      refuse: (socket) =>
        answerSocket(
          socket,
          "rate_limited",
          `This address has ${limits.maxConnectionsPerAddress} connections, which is its limit: close one, or reuse it`,
        ),
    });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuse(error, socket));
  // Node would send 100 at once; it is sent when the body is read, so that a call which is refused needs none.
  server.on("checkContinue", receive);
  server.on("checkExpectation", (_request, response) => refuseRequest(response, "expectation_failed"));

  await listening(server, options.port, options.host ?? "127.0.0.1");
  const { address, family, port } = server.address() as AddressInfo;
  // Nobody can call an unspecified address; on `::`, Node listens for IPv4 as well.
  const host = isUnspecifiedAddress(address) ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  let drained: Promise<void> | undefined;
  let closed: Promise<void> | undefined;
  const leave = async (): Promise<void> => {
    leaving.abort();
    if (limits.drainDelayMs > 0) await sleep(limits.drainDelayMs);
    await endCalls(underWay, { graceMs: limits.closeGraceMs, closing, closingHard });
  };
  const drain = (): Promise<void> => (drained ??= leave());
  return {
    url: `http://${host}:${port}`,
    port,
    drain,
    close: () => (closed ??= drain().then(() => stopListening(server))),
  };
}

async function endCalls(
  underWay: ReadonlySet<ServerResponse>,
  options: {
    readonly graceMs: number;
    readonly closing: AbortController;
    readonly closingHard: AbortController;
  },
): Promise<void> {
  const { graceMs, closing, closingHard } = options;
  const last = [...underWay].map((response) => new Promise((resolve) => response.once("close", resolve)));
  closing.abort();
  for (const response of underWay) endConnection(response);
  const soft = setTimeout(() => closingHard.abort(), graceMs);
  // Waits end with the signal above; whatever is left one second later is a caller that doesn't read its response.
  await Promise.race([Promise.all(last), sleep(graceMs + 1_000, undefined, { ref: false })]);
  clearTimeout(soft);
  closingHard.abort();
}

/**
 * Makes a response the last one of its connection, and says so in it. An idle connection stays open until the end instead: closed by the
 * server, it would take along a request that the client is sending at that moment.
 */
function endConnection(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}

async function stopListening(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const hard = setTimeout(() => server.closeAllConnections(), CLOSE_CONNECTIONS_MS);
  await ended;
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

/** Answers what Node's parser refused, in the API's envelope; there is no request object to pass to the application. */
function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = codeOf(error);
  answerSocket(socket, code, ERROR_TABLE[code].meaning);
  // Half closed, the connection counts for as long as the peer keeps it open; closed at once, its unread input could make the peer lose the
  // response.
  const hard = setTimeout(() => socket.destroy(), CLOSE_CONNECTIONS_MS);
  socket.once("close", () => clearTimeout(hard));
}

/** Answers a connection of which no request reaches the application. */
function answerSocket(socket: Duplex, code: ErrorCode, err: string): void {
  const { status, data } = errorAnswer(code, err);
  const body = JSON.stringify({ data });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      "Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" +
      (status === 429 ? "Retry-After: 1\r\n" : "") +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function codeOf(error: NodeJS.ErrnoException): ErrorCode {
  if (error.code === "HPE_HEADER_OVERFLOW") return "headers_too_large";
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  return "malformed_http";
}

/**
 * Says why a request can't be for any host, in a sentence: RFC 9112, section 3.2. Whatever compares hosts later may rely on their form. Of
 * several Host lines Node keeps the first, but a forwarder in front may have used another.
 */
function findHostProblem({ rawHeaders, headers }: IncomingMessage, trustProxy: boolean): string | undefined {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length > 1) return "the request has more than one Host header";
  const { host = "", "x-forwarded-host": forwarded = "" } = headers;
  if (host !== "" && hostNameOf(host) === "")
    return "the Host header is not a host name with an optional port";
  const names = trustProxy && forwarded !== "" ? String(forwarded).split(",") : [];
  if (names.some((name) => hostNameOf(name.trim()) === ""))
    return "the X-Forwarded-Host header is not a host name with an optional port";
  return undefined;
}

/** `http://host/path?query`; other URL parts have no meaning in a request target. */
const ABSOLUTE_TARGET = /^https?:\/\/(?:\[[\d.:a-f]+\]|[\w.-]+)(?::\d{1,5})?(?:[/?][^#\\\u00a0]*)?$/i;

/** Whether the application can parse a target. Koa's parser throws for some invalid ones, which would look like our own error. */
function isTarget(url: string): boolean {
  if (url.startsWith("/")) return !/[#\u00a0]/.test(url);
  return url === "*" || (ABSOLUTE_TARGET.test(url) && URL.canParse(url));
}

/** Answers a request that does not reach the application, and closes its connection. */
function refuseRequest(
  response: ServerResponse,
  code: ErrorCode,
  err: string = ERROR_TABLE[code].meaning,
): void {
  const { status, data } = errorAnswer(code, err);
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    Connection: "close",
  });
  response.end(JSON.stringify({ data }));
}
