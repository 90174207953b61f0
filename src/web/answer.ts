import type { Context } from "koa";
import { findToldError } from "../lib/errorTable.ts";
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

/** Maps what a page's handler threw to a refusal, by the error table; `undefined` for a defect of ours. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  const told = findToldError(thrown);
  if (told === undefined) return undefined;
  const { status, code, title, message } = told;
  return { status, code, title, message: sentence(message) };
}

/** Messages start in lower case where they are meant to follow something. */
function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
