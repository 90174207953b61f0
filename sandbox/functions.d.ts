/**
 * What a source of an oracle function sees besides JavaScript and Deno's web platform.
 *
 * An editor picks it up from a first line in the source, with the path from there to this file:
 *
 * ```js
 * /// <reference path="../../sandbox/functions.d.ts" />
 * // @ts-nocheck: a source ends with `return`, which editors take for an error outside of a function
 * const price = await Functions.makeHttpRequest({ url: `https://api.example.org/${args[0]}` });
 * ```
 *
 * @packageDocumentation
 */

/** The request's arguments. Without any it is `{}`: `args.length` is undefined then, and it can't be iterated over. */
declare const args: string[];

/** The request's byte arguments, as `0x` and hexadecimal digits. Without any it is `{}`. A preset's random word is the first. */
declare const bytesArgs: `0x${string}`[];

/** The request's secrets; `{}` without any. */
declare const secrets: Record<string, string>;

/** The library of the oracle nodes. */
declare const Functions: {
  /**
   * Requests a URL; at most 5 times in a run, `fetch` included. Never throws for what happens on the way: a status
   * of 400 or more, and any failure, is a result with `error: true`.
   */
  // eslint-disable-next-line typescript/no-explicit-any -- an answer has the shape that its server gives it
  makeHttpRequest<T = any>(request: Functions.HttpRequest): Promise<Functions.HttpResponse<T>>;
  /**
   * 32 bytes, big-endian.
   * @throws {Error} If the value is no number or bigint, not an integer, negative, or above 2²⁵⁶ − 1.
   */
  encodeUint256(value: number | bigint): Uint8Array;
  /**
   * 32 bytes, big-endian two's complement.
   * @throws {Error} If the value is no number or bigint, not an integer, or outside of −2²⁵⁵ … 2²⁵⁵ − 1.
   */
  encodeInt256(value: number | bigint): Uint8Array;
  /** UTF-8. A result takes at most 256 bytes. */
  encodeString(text: string): Uint8Array;
};

declare namespace Functions {
  interface HttpRequest {
    /** http or https, at most 2,048 characters. */
    url: string;
    /** Default `get`. */
    method?:
      | "get"
      | "head"
      | "post"
      | "put"
      | "patch"
      | "delete"
      | "options"
      | Uppercase<"get" | "head" | "post" | "put" | "patch" | "delete" | "options">;
    /** Put behind `?` of the URL. */
    params?: Record<string, string>;
    headers?: Record<string, string>;
    /** Sent as JSON; the `Content-Type` is the source's to set. */
    data?: unknown;
    /** In milliseconds; default 3,000, and 9,000 whatever it says. */
    timeout?: number;
    /** What `data` of the response is: parsed JSON (default), an ArrayBuffer, text, or a stream. */
    responseType?: "json" | "arraybuffer" | "document" | "text" | "stream";
  }
  interface HttpSuccess<T> {
    error: false;
    status: number;
    statusText: string;
    /** Names in lower case. */
    headers: Record<string, string>;
    data: T;
  }
  interface HttpFailure {
    error: true;
    /** The status text, or what went wrong. */
    message?: string;
    /** The status as text, if there was a response. */
    code?: string;
    /** The response of a status of 400 or more, its body not yet read. */
    response?: Response;
    data?: undefined;
    status?: undefined;
    headers?: undefined;
  }
  type HttpResponse<T> = HttpSuccess<T> | HttpFailure;
}
