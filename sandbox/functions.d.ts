/**
 * What an oracle function's source can use besides JavaScript and Deno's web platform.
 *
 * For an editor to find it, start the source with a reference to this file, by its path from there:
 *
 * ```js
 * /// <reference path="../../sandbox/functions.d.ts" />
 * // @ts-nocheck: a source ends with `return`, which editors report as an error outside a function
 * const price = await Functions.makeHttpRequest({ url: `https://api.example.org/${args[0]}` });
 * ```
 *
 * @packageDocumentation
 */

/** The request's arguments. A request without any has `{}` here: `args.length` is undefined and it is not iterable. */
declare const args: string[];

/** The request's byte arguments, each `0x` and hexadecimal digits; `{}` without any. A preset's random word comes first. */
declare const bytesArgs: `0x${string}`[];

/** The request's secrets; `{}` without any. */
declare const secrets: Record<string, string>;

/** The oracle nodes' library. */
declare const Functions: {
  /**
   * Requests a URL; at most 5 times in a run, counting `fetch`. Never throws when a request fails: a status of 400 or more, or
   * any other failure, gives a result with `error: true`.
   */
  // eslint-disable-next-line typescript/no-explicit-any -- an answer has the shape that its server gives it
  makeHttpRequest<T = any>(request: Functions.HttpRequest): Promise<Functions.HttpResponse<T>>;
  /**
   * 32 bytes, big-endian.
   * @throws {Error} If the value is not a number or bigint, not an integer, negative, or above 2²⁵⁶ − 1.
   */
  encodeUint256(value: number | bigint): Uint8Array;
  /**
   * 32 bytes, big-endian two's complement.
   * @throws {Error} If the value is not a number or bigint, not an integer, or outside −2²⁵⁵ … 2²⁵⁵ − 1.
   */
  encodeInt256(value: number | bigint): Uint8Array;
  /** UTF-8. A result holds at most 256 bytes. */
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
    /** Appended to the URL after `?`. */
    params?: Record<string, string>;
    headers?: Record<string, string>;
    /** Sent as JSON; the source sets the `Content-Type` itself. */
    data?: unknown;
    /** In milliseconds; default 3,000, never more than 9,000. */
    timeout?: number;
    /** The type of the response's `data`: parsed JSON (default), an ArrayBuffer, text, or a stream. */
    responseType?: "json" | "arraybuffer" | "document" | "text" | "stream";
  }
  interface HttpSuccess<T> {
    error: false;
    status: number;
    statusText: string;
    /** Names are in lower case. */
    headers: Record<string, string>;
    data: T;
  }
  interface HttpFailure {
    error: true;
    /** The status text, or what went wrong. */
    message?: string;
    /** The status as text, if there was a response. */
    code?: string;
    /** The response if its status was 400 or more; its body is unread. */
    response?: Response;
    data?: undefined;
    status?: undefined;
    headers?: undefined;
  }
  type HttpResponse<T> = HttpSuccess<T> | HttpFailure;
}
