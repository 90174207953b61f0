import type { Context } from "koa";
import getRawBody from "raw-body";
import { TycheError } from "../lib/errors.ts";

/** Largest body of a form in bytes: a source of 30,720 bytes may take three times that in percent escapes, and arguments come on top. */
const MAX_FORM_BYTES = 262_144;

/** Fields of a form; the first value of each, empty where there is none. */
export interface Form {
  get(name: string): string;
  has(name: string): boolean;
}

/** Reads an urlencoded form. Throws {@link NotAFormError} for any other body, {@link FormTooLargeError} past {@link MAX_FORM_BYTES}. */
export async function readForm(ctx: Context): Promise<Form> {
  if (ctx.is("application/x-www-form-urlencoded") === false || ctx.get("Content-Encoding") !== "")
    throw new NotAFormError();
  const body = await getRawBody(ctx.req, {
    limit: MAX_FORM_BYTES,
    length: ctx.get("Content-Length") || null,
  }).catch((error: unknown) => {
    // The rest is dropped as it comes: closing now would reset the connection before the answer is read.
    ctx.req.resume();
    throw (error as { type?: string }).type === "entity.too.large"
      ? new FormTooLargeError()
      : new NotAFormError();
  });
  const fields = new URLSearchParams(body.toString("utf8"));
  return { get: (name) => fields.get(name) ?? "", has: (name) => fields.has(name) };
}

/** A body that is no urlencoded form. */
export class NotAFormError extends TycheError {
  constructor() {
    super("the body is not a form of type application/x-www-form-urlencoded", {
      code: "unsupported_media_type",
      blame: "caller",
    });
  }
}

/** A form over the limit. */
export class FormTooLargeError extends TycheError {
  constructor() {
    super(`the form is larger than the limit of ${MAX_FORM_BYTES} bytes`, {
      code: "body_too_large",
      blame: "caller",
    });
  }
}
