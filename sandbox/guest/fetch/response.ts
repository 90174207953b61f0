import { byteString, dictionary, integer, scalarString } from "../convert.ts";
import type { Internals } from "../internals.ts";
import { defineGetters, exposeInterface, exposeStatics, illegalInvocation, printGetters } from "../webIdl.ts";
import type { Body, BodyTools } from "./body.ts";
import { Headers, fromList, fromPairs, isImmutable, listOf, readHeaders } from "./headers.ts";

/** The fields of a response. */
export interface ResponseFields {
  status: number;
  statusText: string;
  headers: Headers;
  url: string;
  redirected: boolean;
  type: string;
  body: Body | null;
}

/** Statuses of responses without a body (Fetch Standard, §2.2.3). */
export const NULL_BODY_STATUS = [101, 204, 205, 304];

interface ResponseInit {
  readonly headers?: readonly (readonly [string, string])[];
  readonly status: number;
  readonly statusText: string;
}
const readStatus = integer({ bits: 16 });
const readInit = dictionary<ResponseInit>("ResponseInit", {
  headers: [(value, prefix) => readHeaders(value, prefix, "Argument 2")],
  status: [readStatus, 200],
  statusText: [(value) => byteString(value, "", "Value"), ""],
});

/** Creates `Response` (Fetch Standard, §5.5); `hrefOf` returns a URL's absolute form, or throws. */
export function createResponse({ cloneRules }: Internals, tools: BodyTools, hrefOf: (url: string) => string) {
  let makeResponse: (fields: Partial<ResponseFields>) => Response;
  let fieldsOf: (response: Response) => ResponseFields;
  let isResponse: (value: unknown) => boolean;

  /** Creates the fields of a response from its constructor's arguments. */
  function initialise(
    init: ResponseInit,
    extracted: { readonly body: Body; readonly type: string | undefined } | undefined,
  ): ResponseFields {
    const { status, statusText } = init;
    if (status !== 101 && (status < 200 || status > 599)) {
      throw new RangeError(
        `The status provided (${status}) is not equal to 101 and outside the range [200, 599]`,
      );
    }
    if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText))
      throw new TypeError(`Invalid status text: "${statusText}"`);
    const headers = fromPairs(init.headers);
    if (extracted !== undefined) {
      if (NULL_BODY_STATUS.includes(status))
        throw new TypeError("Response with null body status cannot have body");
      if (extracted.type !== undefined && !headers.has("content-type"))
        headers.set("content-type", extracted.type);
    }
    return { ...blank(), status, statusText, headers, body: extracted?.body ?? null };
  }

  class Response {
    #fields: ResponseFields;
    static {
      makeResponse = (fields) => {
        const response = new Response();
        response.#fields = { ...blank(), ...fields };
        return response;
      };
      isResponse = (value) => typeof value === "object" && value !== null && #fields in value;
      fieldsOf = (response) => {
        if (!isResponse(response)) throw illegalInvocation();
        return response.#fields;
      };
    }
    static error(): Response {
      return makeResponse({ headers: fromList([], true), type: "error", status: 0 });
    }
    static redirect(target: unknown, status: unknown = 302): Response {
      const prefix = "Failed to execute 'Response.redirect'";
      const url = scalarString(target, prefix, "Argument 1");
      const code = readStatus(status, prefix, "Argument 2");
      const href = hrefOf(url);
      if (![301, 302, 303, 307, 308].includes(code))
        throw new RangeError(`Invalid redirect status code: ${code}`);
      return makeResponse({ status: code, headers: fromList([["Location", href]], true) });
    }
    static json(data: unknown = undefined, init: unknown = undefined): Response {
      const prefix = "Failed to execute 'Response.json'";
      const text = JSON.stringify(data) as string | undefined;
      if (text === undefined) throw new TypeError("Value is not JSON serializable");
      const given = readInit(init, prefix, "Argument 2");
      const { body } = tools.extract(text);
      return makeResponse(initialise(given, { body, type: "application/json" }));
    }
    constructor(body: unknown = null, init: unknown = undefined) {
      const prefix = "Failed to construct 'Response'";
      const given = readInit(init, prefix, "Argument 2");
      const hasBody = body !== null && body !== undefined;
      this.#fields = initialise(
        given,
        hasBody ? tools.extract(body, "Failed to construct 'Response': Argument 1") : undefined,
      );
    }
    get ok(): boolean {
      const { status } = fieldsOf(this);
      return status >= 200 && status <= 299;
    }
    clone(): Response {
      const fields = fieldsOf(this);
      const { body } = fields;
      if (body !== null && tools.isUnusable(body)) throw new TypeError("Body is unusable");
      return makeResponse({
        ...fields,
        headers: fromList(listOf(fields.headers), isImmutable(fields.headers)),
        body: body === null ? null : tools.clone(body),
      });
    }
  }
  defineGetters(Response, ["type", "url", "redirected", "status"], (response) => fieldsOf(response), ["ok"]);
  defineGetters(Response, ["statusText", "headers"], (response) => fieldsOf(response), ["clone"]);
  Object.defineProperty(Response, "length", { value: 0, configurable: true });
  tools.mixin(
    Response.prototype,
    (response) => (isResponse(response) ? fieldsOf(response as Response).body : undefined),
    (response) => fieldsOf(response as Response).headers.get("content-type"),
  );
  exposeInterface(Response);
  exposeStatics(Response, "error", "json", "redirect");
  printGetters(Response, ["body", "bodyUsed", "headers", "ok", "redirected", "status", "statusText", "url"]);
  cloneRules.add({ has: isResponse });
  return { Response, makeResponse };
}

function blank(): ResponseFields {
  return {
    status: 200,
    statusText: "",
    headers: new Headers(),
    url: "",
    redirected: false,
    type: "default",
    body: null,
  };
}
