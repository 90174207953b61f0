import { type Body, FROM_NETWORK, createBodyTools, endWith } from "../fetch/body.ts";
import { readDataUrl } from "../fetch/dataUrl.ts";
import { Headers, fromList, isHeaders, listOf } from "../fetch/headers.ts";
import { type Signal, createRequest } from "../fetch/request.ts";
import { NULL_BODY_STATUS, createResponse } from "../fetch/response.ts";
import { type FetchCallResponse, packMessage, unpackMessage } from "../hostCalls.ts";
import type { Internals } from "../internals.ts";
import { records, string } from "../convert.ts";

/** Fetch Standard: `Headers`, `Request`, `Response`, `fetch`; requests go through the host, which guards them. */
export default function fetchChunk(internals: Internals): Readonly<Record<string, unknown>> {
  const { load, hostCall } = internals;
  records.isProxy = (value) => internals.proxyParts(value) !== undefined;
  const tools = createBodyTools(internals);
  const hrefOf = (url: string): string =>
    new (load("url") as { URL: new (url: string) => { readonly href: string } }).URL(url).href;
  const { Request, fieldsOf, isRequest } = createRequest(internals, tools, hrefOf);
  const { Response, makeResponse } = createResponse(internals, tools, hrefOf);
  internals.cloneRules.add({ has: isHeaders });
  type Request = InstanceType<typeof Request>;
  type Response = InstanceType<typeof Response>;

  // Like the nodes' wrapper, this function has no name, and throws synchronously for other inputs instead of rejecting.
  const fetch = (input: unknown, init: unknown): Promise<Response> => {
    const isUrl = Object.prototype.toString.call(input) === "[object URL]";
    if (typeof input !== "string" && !isUrl && !isRequest(input)) {
      throw new Error("fetch only accepts string, URL or Request object");
    }
    return request(isRequest(input) ? (input as Request) : string(input), init);
  };
  Object.defineProperty(fetch, "name", { value: "", configurable: true });

  async function request(target: Request | string, init: unknown): Promise<Response> {
    // The nodes' proxy validates the URL: an invalid one gets a response with status 400, not an exception.
    const made =
      typeof target === "string" ? new Request("http://localhost/", init) : new Request(target, init);
    const { url, method, headers, body, signal } = fieldsOf(made);
    const href = typeof target === "string" ? target : url;
    if (signal?.aborted) throw signal.reason;
    if (/^data:/i.test(href)) return dataResponse(href, signal);
    if (/^blob:/i.test(href)) return blobResponse(href, method, signal);
    const bytes = body === null ? undefined : await tools.read(body);
    const message = packMessage(
      { url: href, method, headers: listOf(headers), redirect: "follow", hasBody: bytes !== undefined },
      bytes,
    );
    const answer = await withSignal(signal, (onStart) => hostCall("fetch", message, onStart));
    const { header, body: content } = unpackMessage(answer);
    const { status, statusText, headers: received, url: finalUrl, redirected } = header as FetchCallResponse;
    const isNull = NULL_BODY_STATUS.includes(status) || method === "HEAD";
    const responseBody: Body | null = isNull
      ? null
      : { bytes: content.slice(), stream: undefined, used: false };
    if (responseBody !== null) {
      FROM_NETWORK.add(responseBody);
      endWith(responseBody, signal);
    }
    const answered = { status, statusText, url: finalUrl, redirected, type: "basic", body: responseBody };
    return makeResponse({ ...answered, headers: fromList(received, true) });
  }

  /** The response of the nodes' proxy to a request that fails. */
  const failure = (): Response =>
    new Response('{"error":"Error during fetch request"}', { status: 400, statusText: "Bad Request" });

  /** Creates the response to the URL of a blob, which needs no server either. */
  function blobResponse(url: string, method: string, signal: Signal | undefined): Response {
    const blob = (load("url")["findBlob"] as (url: string) => unknown)(url) as
      | { readonly type: string }
      | undefined;
    if (blob === undefined || method !== "GET") return failure();
    const bytes = (load("file")["bytesOfBlob"] as (blob: unknown) => Uint8Array)(blob);
    const headers = { "content-length": String(bytes.length), "content-type": blob.type };
    return contentResponse(Object.entries(headers), bytes, signal);
  }

  /** Creates the response to a data URL, which needs no server; a malformed one gets the response of the nodes' proxy. */
  function dataResponse(target: string, signal: Signal | undefined): Response {
    const data = readDataUrl(hrefOf(target));
    if (data === undefined) return failure();
    return contentResponse([["content-type", data.type]], data.bytes, signal);
  }

  function contentResponse(
    headers: readonly [string, string][],
    bytes: Uint8Array,
    signal: Signal | undefined,
  ): Response {
    const body: Body = { bytes: bytes.slice(), stream: undefined, used: false };
    endWith(body, signal);
    return makeResponse({ statusText: "OK", headers: fromList(headers, true), type: "basic", body });
  }

  return { Headers, Request, Response, fetch };
}

/** Starts a host call that is cancelled when the signal is aborted. */
function withSignal(
  signal: Signal | undefined,
  start: (onStart: (cancel: () => void) => void) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (signal === undefined) return start(() => undefined);
  return new Promise((resolve, reject) => {
    let cancel: (() => void) | undefined;
    const onAbort = (): void => {
      cancel?.();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    start((withdraw) => {
      cancel = withdraw;
    })
      .finally(() => signal.removeEventListener("abort", onAbort))
      .then(resolve, reject);
  });
}
