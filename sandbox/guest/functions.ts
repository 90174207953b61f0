import { fromHex } from "./baseCodes.ts";
import { encodeUtf8 } from "./utf8.ts";

const { BigInt, Error, JSON, Number, Object, String } = globalThis;
const toText = Function.prototype.call.bind(BigInt.prototype.toString) as (
  value: bigint,
  radix: number,
) => string;
const padStart = Function.prototype.call.bind(String.prototype.padStart) as (
  text: string,
  to: number,
  fill: string,
) => string;
const isInteger = Number.isInteger;

const MAX_UINT256 = 2n ** 256n - 1n;
const MIN_INT256 = -(2n ** 255n);
const MAX_INT256 = 2n ** 255n - 1n;

/**
 * Creates the `Functions` object that sources see. Messages and coercions are those of the oracle nodes' library
 * (functions-toolkit, `deno-sandbox/sandbox.ts`).
 *
 * @param startTimer calls a function that starts the timer of an HTTP request, which is none of the source's own.
 */
export function createFunctions(startTimer: <T>(start: () => T) => T): object {
  return { ...createRequester(startTimer), encodeUint256, encodeInt256, encodeString };
}

/** Encodes an integer as 32 bytes, big-endian. */
const encodeUint256 = (value: unknown): Uint8Array => {
  const integer = toInteger(value, "encodeUint256");
  if (integer < 0n) throw new Error("input into Functions.encodeUint256 is negative");
  if (integer > MAX_UINT256) throw new Error("input into Functions.encodeUint256 is too large");
  return fromHex(padStart(toText(integer, 16), 64, "0"));
};

/** Encodes an integer as 32 bytes, big-endian two's complement. */
const encodeInt256 = (value: unknown): Uint8Array => {
  const integer = toInteger(value, "encodeInt256");
  if (integer < MIN_INT256) throw new Error("input into Functions.encodeInt256 is too small");
  if (integer > MAX_INT256) throw new Error("input into Functions.encodeInt256 is too large");
  const word = integer < 0n ? MAX_UINT256 + 1n + integer : integer;
  return fromHex(padStart(toText(word, 16), 64, "0"));
};

/** Encodes a value as UTF-8, as `TextEncoder.encode` does. */
const encodeString = (value: unknown): Uint8Array =>
  encodeUtf8(value === undefined ? "" : `${value as bigint}`);

function toInteger(value: unknown, name: string): bigint {
  if (typeof value !== "number" && typeof value !== "bigint") {
    throw new Error(`input into Functions.${name} is not a number or bigint`);
  }
  if (typeof value === "number" && !isInteger(value))
    throw new Error(`input into Functions.${name} is not an integer`);
  return BigInt(value);
}

/** The web globals that a request needs; looked up on each request, as the nodes' library does. */
interface WebGlobals {
  readonly fetch: (url: string, init: object) => Promise<WebResponse>;
  readonly URLSearchParams: new (params: unknown) => { toString(): string };
  readonly AbortController: new () => { readonly signal: unknown; abort(): void };
  readonly setTimeout: (callback: () => void, delayMs: unknown) => number;
  readonly clearTimeout: (id: number) => void;
}

interface WebResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers?: { entries(): Iterable<[string, string]> };
  readonly body: unknown;
  json(): Promise<unknown>;
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

interface HttpRequestOptions {
  url: string;
  method?: string;
  params?: unknown;
  headers?: unknown;
  data?: unknown;
  timeout?: unknown;
  responseType?: string;
}

function createRequester(startTimer: <T>(start: () => T) => T) {
  // As a member it keeps its name, whatever a bundler makes of it.
  return {
    makeHttpRequest: async ({
      url,
      method = "get",
      params,
      headers,
      data,
      timeout = 3000,
      responseType = "json",
    }: HttpRequestOptions): Promise<object> => {
      try {
        const web = globalThis as unknown as WebGlobals;
        if (params) url += `?${new web.URLSearchParams(params).toString()}`;
        const controller = new web.AbortController();
        const timer = startTimer(() => web.setTimeout(() => controller.abort(), timeout));
        const body = data ? JSON.stringify(data) : undefined;
        const result = await web.fetch(url, { method, headers, body, signal: controller.signal });
        web.clearTimeout(timer);
        if (result.status >= 400) {
          return { error: true, message: result.statusText, code: `${result.status}`, response: result };
        }
        const response = {
          error: false,
          status: result.status,
          statusText: result.statusText,
          headers: result.headers ? Object.fromEntries(result.headers.entries()) : undefined,
          data: undefined as unknown,
        };
        switch (responseType) {
          case "json":
            response.data = await result.json();
            break;
          case "arraybuffer":
            response.data = await result.arrayBuffer();
            break;
          case "document":
          case "text":
            response.data = await result.text();
            break;
          case "stream":
            response.data = result.body;
            break;
          default:
            throw new Error("invalid response type");
        }
        return response;
      } catch (error) {
        return { error: true, message: (error as { toString?: () => string } | null)?.toString?.() };
      }
    },
  };
}
