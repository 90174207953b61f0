import type { Router } from "@koa/router";
import type { Context } from "koa";
import type { Logger } from "pino";
import type { NetworkBalances } from "../dapps/balances.ts";
import type { ChainConsumer } from "../dapps/chainConsumers.ts";
import type { ConfigVars } from "../dapps/configVars.ts";
import type { DappDirectory } from "../dapps/dapps.ts";
import type { Explorer } from "../explorer/explorer.ts";
import type { Dapp, Facility, Service } from "../requests/service.ts";
import type { Access } from "./access.ts";
import { sendRefusal, wantsJson } from "./answer.ts";
import { readForm, type Form } from "./form.ts";
import { html, type Html } from "./html.ts";
import { sendPage, type Page } from "./layout.ts";
import type { VerifierPage } from "./verifierRoutes.ts";

/** What the pages show and act on. */
export interface WebDeps {
  readonly service: Service;
  readonly dapps: DappDirectory;
  readonly explorer: Explorer;
  readonly access: Access;
  /** Rejects calls for a name that the server doesn't answer to, and more of them than an address may make; then knows who asks. */
  readonly guard: (ctx: Context) => Promise<void>;
  readonly log: Logger;
  /** The page that verifies results in a browser. */
  readonly getVerifierPage: () => Promise<VerifierPage>;
  /** Throws `not_found`. */
  readonly readConfigVars: (dappId: string) => Promise<ConfigVars>;
  /** By network; see `readDappBalances`. */
  readonly readBalances: (dappId: string) => Promise<ReadonlyMap<string, NetworkBalances>>;
  readonly readChainConsumers: (
    dappId: string,
  ) => Promise<ReadonlyMap<string, ReadonlyMap<string, ChainConsumer>>>;
}

/** The application's routes: nobody gets past them who isn't admitted. */
export interface Site {
  readonly deps: WebDeps;
  get(path: string, handle: (ctx: Context & Params) => Promise<void>): void;
  /** Of a form sent from one of our own pages. */
  post(path: string, handle: (ctx: Context & Params, form: Form) => Promise<void>): void;
  show(ctx: Context, page: Page): void;
  /** The hidden field that every form which changes something carries. */
  formToken(ctx: Context): Html;
}

export interface Params {
  readonly params: Readonly<Record<string, string>>;
}

/** Makes the application's routes on a router. */
export function createSite(router: Router, deps: WebDeps): Site {
  const { access, guard } = deps;
  const show = (ctx: Context, page: Page): void => sendPage(ctx, page, access.viewerOf(ctx));
  return {
    deps,
    show,
    get(path, handle) {
      router.get(path, async (ctx) => {
        await guard(ctx);
        if (access.isAdmitted(ctx)) await handle(ctx);
        else refuseStranger(ctx, access);
      });
    },
    post(path, handle) {
      router.post(path, async (ctx) => {
        await guard(ctx);
        if (!access.isAdmitted(ctx)) {
          refuseStranger(ctx, access);
          return;
        }
        const form = await readForm(ctx);
        access.checkForm(ctx, form.get("token"));
        deps.log.info({ path: ctx.path, address: ctx.ip }, "form taken");
        await handle(ctx, form);
      });
    },
    formToken: (ctx) => html`<input type="hidden" name="token" value="${access.formToken(ctx)}">`,
  };
}

/** The dapp of a page, as the service wants to know it; what it does is marked as done here and not with a key. */
export async function getDapp(
  { dapps }: WebDeps,
  dappId: string,
): Promise<Dapp & { readonly createdAt: number }> {
  const { id, name, facilities, createdAt } = await dapps.get(dappId);
  return { id, name, facilities: facilities as readonly Facility[], createdAt, keyId: "application" };
}

function refuseStranger(ctx: Context, access: Access): void {
  if (wantsJson(ctx) || ctx.method !== "GET") {
    const message = "Sign in first, with the operator token of this service.";
    sendRefusal(
      ctx,
      {
        status: 401,
        code: "unauthenticated",
        title: "Sign in first",
        message,
        hint: html`<p><a class="action" href="/sign-in">Sign in</a></p>`,
      },
      access.viewerOf(ctx),
    );
    return;
  }
  ctx.redirect(`/sign-in?next=${encodeURIComponent(ctx.url)}`);
  ctx.status = 303;
}
