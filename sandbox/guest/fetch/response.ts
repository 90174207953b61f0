import { exposeInterface, exposeStatics, printGetters, toText } from "../webIdl.ts";
import type { Body, BodyTools } from "./body.ts";
import { Headers, fromList, listOf } from "./headers.ts";

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

/** Creates `Response` (Fetch Standard, §5.5); `hrefOf` returns a URL's absolute form, or throws. */
export function createResponse(tools: BodyTools, hrefOf: (url: string) => string) {
  let makeResponse: (fields: ResponseFields) => Response;
  let bodyOfResponse: (response: Response) => Body | null;

  class Response {
    #fields: ResponseFields;
    static {
      makeResponse = (fields) => {
        const response = new Response();
        response.#fields = fields;
        return response;
      };
      bodyOfResponse = (response) => response.#fields.body;
    }
    static error(): Response {
      return makeResponse({ ...blank(), type: "error", status: 0 });
    }
    static json(data: unknown = undefined, init: Record<string, unknown> = {}): Response {
      const text = JSON.stringify(data) as string | undefined;
      if (text === undefined) throw new TypeError("The data is not JSON serializable");
      const headers = new Headers(init["headers"] ?? {});
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      return new Response(text, { ...init, headers });
    }
    static redirect(target: unknown, status: unknown = 302): Response {
      const href = hrefOf(toText(target));
      const code = Number(status);
      if (![301, 302, 303, 307, 308].includes(code)) throw new RangeError("Invalid redirect status code");
      return makeResponse({ ...blank(), status: code, headers: fromList([["Location", href]], true) });
    }
    constructor(body: unknown = null, init: Record<string, unknown> | null = {}) {
      const options = init ?? {};
      const status = options["status"] === undefined ? 200 : Number(options["status"]) & 0xffff;
      if (status !== 101 && (status < 200 || status > 599)) {
        throw new RangeError(
          `The status provided (${status}) is not equal to 101 and outside the range [200, 599]`,
        );
      }
      const statusText = options["statusText"] === undefined ? "" : toText(options["statusText"]);
      if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText))
        throw new TypeError(`Invalid status text: "${statusText}"`);
      const headers = new Headers(options["headers"] ?? {});
      this.#fields = { ...blank(), status, statusText, headers };
      if (body === null || body === undefined) return;
      if (NULL_BODY_STATUS.includes(status))
        throw new TypeError("Response with null body status cannot have body");
      const extracted = tools.extract(body);
      this.#fields.body = extracted.body;
      if (extracted.type !== undefined && !headers.has("content-type"))
        headers.set("content-type", extracted.type);
    }
    get type(): string {
      return this.#fields.type;
    }
    get url(): string {
      return this.#fields.url;
    }
    get redirected(): boolean {
      return this.#fields.redirected;
    }
    get status(): number {
      return this.#fields.status;
    }
    get ok(): boolean {
      return this.#fields.status >= 200 && this.#fields.status <= 299;
    }
    get statusText(): string {
      return this.#fields.statusText;
    }
    get headers(): Headers {
      return this.#fields.headers;
    }
    clone(): Response {
      const { body } = this.#fields;
      if (body !== null && (tools.isUsed(body) || body.stream?.locked))
        throw new TypeError("Body is unusable");
      return makeResponse({
        ...this.#fields,
        headers: fromList(listOf(this.#fields.headers)),
        body: body === null ? null : tools.clone(body),
      });
    }
  }
  Object.defineProperty(Response, "length", { value: 0, configurable: true });
  tools.mixin(
    Response.prototype,
    (response) => bodyOfResponse(response as Response),
    (response) => (response as Response).headers.get("content-type"),
  );
  exposeInterface(Response);
  exposeStatics(Response, "error", "json", "redirect");
  printGetters(Response, ["body", "bodyUsed", "headers", "ok", "redirected", "status", "statusText", "url"]);
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
