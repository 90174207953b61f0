import { AnswerError } from "./connection.ts";
import type { Transport } from "./connection.ts";

/** Longest body that is read, in bytes: no answer that we ask for comes near it. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Statuses with which gateways stand in for a node, whatever the body says. */
const isGatewayStatus = (status: number): boolean => status === 429 || status >= 500;

/**
 * Asks a node by HTTP, one call a request. User and password in the URL become basic authentication. Redirects are not followed:
 * the URL holds a key, and the one who configured it named the node.
 *
 * @throws AnswerError when the node itself refuses.
 * @throws HttpStatusError on 429, on a gateway's error, and on any body that is no JSON-RPC answer.
 */
export function openHttp(rpcUrl: string, timeoutMs: number): Transport {
  const { url, authorization } = splitCredentials(rpcUrl);
  const closing = new AbortController();
  let lastId = 0;
  return {
    async request(method, parameters) {
      const id = ++lastId;
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization },
        body: JSON.stringify({ jsonrpc: "2.0", id, method, params: parameters }),
        redirect: "error",
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]),
      }).catch((error: unknown) => {
        throw describeFetchError(error, timeoutMs);
      });
      const text = await readText(response).catch((error: unknown) => {
        throw describeFetchError(error, timeoutMs);
      });
      return parseAnswer(text, response);
    },
    close: () => closing.abort(),
  };
}

function parseAnswer(text: string, response: Response): unknown {
  let answer: { result?: unknown; error?: { message?: unknown; code?: unknown; data?: unknown } | null };
  try {
    answer = JSON.parse(text);
  } catch {
    answer = {};
  }
  if (typeof answer !== "object" || answer === null || isGatewayStatus(response.status))
    throw new HttpStatusError(response);
  if (typeof answer.error === "object" && answer.error !== null) {
    const { message, code, data } = answer.error;
    throw new AnswerError(String(message), Number(code), data);
  }
  if (!response.ok || answer.result === undefined) throw new HttpStatusError(response);
  return answer.result;
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`its answer is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The system's own code says most; what `fetch` says besides may hold the URL. */
function describeFetchError(error: unknown, timeoutMs: number): Error {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown } };
  if (name === "TimeoutError") return new Error(`no answer within ${timeoutMs} ms`);
  if (name === "AbortError") return new Error("the connection to the node is closed");
  if (typeof cause?.code === "string") return new Error(`the node can't be reached (${cause.code})`);
  return error instanceof Error && error.message.startsWith("its answer")
    ? error
    : new Error("the connection to the node failed");
}

function splitCredentials(rpcUrl: string): {
  readonly url: URL;
  readonly authorization: { readonly authorization?: string };
} {
  const url = new URL(rpcUrl);
  const { username, password } = url;
  if (username === "" && password === "") return { url, authorization: {} };
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  [url.username, url.password] = ["", ""];
  return { url, authorization: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
}

/** What came by HTTP is no answer of a node: a gateway's refusal, or a page. */
export class HttpStatusError extends Error {
  readonly status: number;
  /** How long the other side asks to be left alone (`Retry-After` in seconds), in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor({ status, headers }: Response) {
    super(status < 400 ? `the answer is no JSON-RPC (status ${status})` : `status ${status}`);
    this.status = status;
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
  }
}
