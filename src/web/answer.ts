import type { Context } from "koa";
import { TycheError } from "../lib/errors.ts";
import { html, showText, type Html } from "./html.ts";
import { sendPage, type Viewer } from "./layout.ts";

/** Whether the caller asks for JSON rather than a page. */
export function wantsJson(ctx: Context): boolean {
  return ctx.accepts("html", "json") === "json";
}

/** Answers with data as JSON, in the API's envelope. */
export function sendData(ctx: Context, data: unknown): void {
  ctx.set("Cache-Control", "no-store");
  ctx.set("Content-Type", "application/json; charset=utf-8");
  ctx.set("Vary", "Accept, Cookie");
  ctx.body = JSON.stringify({ data });
}

/** A page that can't be shown: what it says, and with which status. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly message: string;
  readonly hint?: Html;
}

/** Answers with a refusal, as a page or, where asked for, as JSON. */
export function sendRefusal(ctx: Context, refusal: Refusal, viewer: Viewer): void {
  const { status, code, title, message, hint } = refusal;
  ctx.status = status;
  if (wantsJson(ctx)) {
    sendData(ctx, { success: false, err: message, code });
    return;
  }
  sendPage(
    ctx,
    { title, body: html`<h1>${title}</h1><p class="lead">${showText(message)}</p>${hint}` },
    viewer,
  );
}

const STATUS: Readonly<Record<string, readonly [status: number, title: string]>> = {
  invalid_parameter: [400, "That can't be used"],
  form_refused: [403, "This form was not sent from here"],
  forbidden: [403, "Not allowed"],
  not_found: [404, "Nothing here"],
  too_many_consumers: [409, "No place for another consumer"],
  body_too_large: [413, "Too large"],
  unsupported_media_type: [415, "Not a form"],
  function_failed: [422, "The dry run failed"],
  chain_unavailable: [502, "The network can't be reached"],
  overloaded: [503, "Too much to do"],
};

/**
 * Maps what a page's handler threw to a refusal. A message is shown only where it was written for the caller: a `TycheError` with a
 * code of the table that isn't blamed on us. `undefined` for anything else, which is a defect.
 */
export function refusalOf(thrown: unknown): Refusal | undefined {
  if (!(thrown instanceof TycheError)) return undefined;
  const entry = STATUS[thrown.code];
  if (entry === undefined) return undefined;
  const [status, title] = entry;
  const message = thrown.blame === "us" ? "Try again in a few seconds." : sentence(thrown.message);
  return { status, code: thrown.code, title, message };
}

/** Messages start in lower case where they are meant to follow something. */
function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
