import type { Router } from "@koa/router";
import type { Context } from "koa";
import type { Hex } from "viem";
import type { Explorer } from "../../explorer/explorer.ts";
import { parseCursor, type ListCursor } from "../../explorer/lists.ts";
import type { Service } from "../../requests/service.ts";
import type { NetworkView } from "../../requests/views.ts";
import { sendData, sendRefusal, wantsJson } from "../answer.ts";
import { html, type Html } from "../html.ts";
import { sendPage, type Page, type Viewer } from "../layout.ts";
import { addressPage, blockPage, blocksPage, overviewPage } from "./chainPages.ts";
import { contractPage } from "./contractPage.ts";
import { searchForm, searchRoutes } from "./search.ts";
import { transactionPage } from "./transactionPage.ts";

const HASH = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NUMBER = /^(0|[1-9][0-9]{0,17})$/;

/** What the explorer's routes need. */
export interface ExplorerRoutesOptions {
  readonly explorer: Explorer;
  readonly service: Pick<Service, "networks" | "getShared">;
  readonly viewerOf: (ctx: Context) => Viewer;
  readonly guard: (ctx: Context) => Promise<void>;
}

/**
 * Adds `/explorer`: what is on the chains of our own, for everybody who reaches the server, as on any public explorer. It changes nothing,
 * takes no cookie and shows nothing that isn't on the chain. With `Accept: application/json` each page gives its data in `data`.
 */
export function explorerRoutes(router: Router, options: ExplorerRoutesOptions): void {
  const { explorer, service, viewerOf, guard } = options;

  /** Answers with a page or its data, whichever is asked for; `undefined` is a 404 that says what isn't there. */
  const answer = async <View>(
    ctx: Context,
    network: string,
    view: View | undefined,
    parts: { readonly page: (view: View) => Omit<Page, "section">; readonly missing: () => Promise<Missing> },
  ): Promise<void> => {
    if (view === undefined) {
      const { title, message, hint } = await parts.missing();
      const known = service.networks().find(({ name }) => name === network);
      const refusal = {
        status: 404,
        code: "not_found",
        title,
        message,
        hint: html`${hint}${known && searchForm(network)}`,
      };
      sendRefusal(ctx, refusal, viewerOf(ctx));
    } else if (wantsJson(ctx)) sendData(ctx, view);
    else sendPage(ctx, { section: "explorer", ...parts.page(view) }, viewerOf(ctx));
  };
  const titleOf = (network: string): string =>
    service.networks().find(({ name }) => name === network)?.title ?? network;
  const trailOf = (network: string) => [
    { href: "/explorer", text: "Explorer" },
    { href: `/explorer/${network}`, text: titleOf(network) },
  ];
  /** Why there is nothing to show on a network at all; `undefined` where there could be. */
  const networkTrouble = (network: string): Missing | undefined => {
    const view = service.networks().find(({ name }) => name === network);
    if (view === undefined || !explorer.has(network)) {
      const message = `There is no network ${JSON.stringify(network)} here. There are ${service
        .networks()
        .map(({ name }) => name)
        .join(", ")}.`;
      return { title: "No such network", message };
    }
    if (view.status === "serving") return undefined;
    return {
      title: `${view.title} is not serving`,
      message: `${view.title} can't be read now: ${view.statusDetail ?? "it is starting"}. Try again in a few seconds.`,
    };
  };

  router.get("/explorer", async (ctx) => {
    await guard(ctx);
    if (wantsJson(ctx))
      sendData(ctx, {
        networks: service
          .networks()
          .map(({ name, title, chainId, status }) => ({ name, title, chainId, status })),
      });
    else
      sendPage(
        ctx,
        { title: "Explorer", section: "explorer", body: indexPage(service.networks()) },
        viewerOf(ctx),
      );
  });

  searchRoutes(router, options);

  router.get("/explorer/:network", async (ctx) => {
    await guard(ctx);
    const network = ctx.params["network"]!;
    await answer(ctx, network, await explorer.findOverview(network), {
      page: (view) => ({
        title: `${view.title} explorer`,
        trail: [{ href: "/explorer", text: "Explorer" }],
        body: overviewPage(view),
      }),
      missing: async () =>
        networkTrouble(network) ?? { title: "Nothing here", message: "The chain can't be read now." },
    });
  });

  router.get("/explorer/:network/tx/:hash", async (ctx) => {
    await guard(ctx);
    const { network, hash } = ctx.params as { network: string; hash: string };
    const view = HASH.test(hash) ? await explorer.findTransaction(network, hash as Hex) : undefined;
    await answer(ctx, network, view, {
      page: (found) => ({
        title: `Transaction ${hash.slice(0, 10)}…`,
        trail: trailOf(network),
        body: transactionPage(found),
      }),
      missing: async () =>
        networkTrouble(network) ?? (await describeMissing(explorer, service.networks(), network, hash)),
    });
  });

  router.get("/explorer/:network/block/:number", async (ctx) => {
    await guard(ctx);
    const { network, number } = ctx.params as { network: string; number: string };
    const view = NUMBER.test(number) ? await explorer.findBlock(network, BigInt(number)) : undefined;
    await answer(ctx, network, view, {
      page: (found) => ({ title: `Block ${number}`, trail: trailOf(network), body: blockPage(found) }),
      missing: async () =>
        networkTrouble(network) ?? {
          title: "No such block",
          message: `${titleOf(network)} has no block ${number}.`,
        },
    });
  });

  router.get("/explorer/:network/blocks", async (ctx) => {
    await guard(ctx);
    const network = ctx.params["network"]!;
    const before = readBefore(ctx);
    const view = before === "wrong" ? undefined : await explorer.findBlocks(network, before?.block);
    await answer(ctx, network, view, {
      page: (found) => ({ title: "Blocks", trail: trailOf(network), body: blocksPage(found) }),
      missing: async () => networkTrouble(network) ?? NO_SUCH_PAGE,
    });
  });

  router.get("/explorer/:network/address/:address", async (ctx) => {
    await guard(ctx);
    const { network, address } = ctx.params as { network: string; address: string };
    const before = readBefore(ctx);
    const view =
      ADDRESS.test(address) && before !== "wrong"
        ? await explorer.findAddress(network, address as Hex, before)
        : undefined;
    await answer(ctx, network, view, {
      page: (found) => ({
        title: found.name ?? `Address ${address.slice(0, 10)}…`,
        trail: trailOf(network),
        body: addressPage(found),
      }),
      missing: async () =>
        networkTrouble(network) ??
        (ADDRESS.test(address)
          ? NO_SUCH_PAGE
          : {
              title: "Not an address",
              message: `An address is 0x and 40 hex digits; ${address} is not.`,
            }),
    });
  });

  router.get("/explorer/:network/address/:address/contract", async (ctx) => {
    await guard(ctx);
    const { network, address } = ctx.params as { network: string; address: string };
    const view = ADDRESS.test(address) ? await explorer.findContract(network, address as Hex) : undefined;
    await answer(ctx, network, view, {
      page: (found) => ({
        title: `${found.name}, contract`,
        trail: trailOf(network),
        body: contractPage(found),
      }),
      missing: async () =>
        networkTrouble(network) ?? {
          title: "No source",
          message: `${address} is no contract that this service deployed: the source of others is not known here.`,
        },
    });
  });
}

interface Missing {
  readonly title: string;
  readonly message: string;
  readonly hint?: Html;
}

const NO_SUCH_PAGE: Missing = {
  title: "No such page",
  message: "before is a block number, or one with a place in the block, such as 120.3.",
};

/** Where a page of a list begins: `before` of the query. */
function readBefore(ctx: Context): ListCursor | "wrong" | undefined {
  const { before } = ctx.query;
  if (before === undefined) return undefined;
  return (typeof before === "string" ? parseCursor(before) : undefined) ?? "wrong";
}

/** Says that a transaction isn't here, and where it is if another network has it. */
async function describeMissing(
  explorer: Explorer,
  networks: readonly NetworkView[],
  network: string,
  hash: string,
): Promise<Missing> {
  const title = networks.find(({ name }) => name === network)?.title ?? network;
  if (!HASH.test(hash))
    return {
      title: "Not a transaction hash",
      message: `A transaction hash is 0x and 64 hex digits; ${hash} is not.`,
    };
  const message = `${title} has no transaction ${hash}. It may have been sent to another network, to a chain that was since replaced, or have been kept as long as the service was told to.`;
  const others = await Promise.all(
    networks.map(async (other) =>
      (await explorer.hasTransaction(other.name, hash as Hex)) ? other : undefined,
    ),
  );
  const elsewhere = others.find((other) => other !== undefined);
  const hint =
    elsewhere &&
    html`<p><a class="action" href="/explorer/${elsewhere.name}/tx/${hash}">Open it on ${elsewhere.title}</a></p>`;
  return { title: "No such transaction", message, ...(hint === undefined ? {} : { hint }) };
}

function indexPage(networks: readonly NetworkView[]): Html {
  return html`<h1>Explorer</h1>
<p class="lead">What happened on the chains that run here: requests, proofs, results, and every other transaction.</p>
${searchForm()}
<ul class="cards">${networks.map(
    ({ name, title, chainId, status, statusDetail }) =>
      html`<li class="panel"><h2><a href="/explorer/${name}">${title}</a></h2><p class="note">Chain ${chainId}${status !== "serving" && `, ${statusDetail ?? status}`}</p></li>`,
  )}</ul>`;
}
