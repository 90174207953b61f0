import type { Router } from "@koa/router";
import type { Hex } from "viem";
import type { Explorer } from "../../explorer/explorer.ts";
import { parseCursor, type ListCursor } from "../../explorer/lists.ts";
import { TycheError } from "../../lib/errors.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import type { Service } from "../../requests/service.ts";
import type { HttpContext, RequestState } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { PublicGuard } from "../publicGuard.ts";
import { searchEverywhere } from "./explorerSearch.ts";

const HASH = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NUMBER = /^(0|[1-9][0-9]{0,17})$/;
const BASE = "/api/explorer";

/** What the explorer's routes need. */
export interface ExplorerRoutesOptions {
  readonly explorer: Explorer;
  readonly service: Pick<Service, "networks" | "getShared">;
  readonly guardPublic: PublicGuard;
}

/**
 * Adds `/api/explorer`: what is on the chains, and shared results, for everybody who reaches the server, as on any public explorer. It takes
 * no key, changes nothing and shows nothing that isn't on a chain. The answers' types are those of `createExplorer` in `tyche/client`.
 */
export function explorerRoutes(
  router: Router<RequestState>,
  { explorer, service, guardPublic }: ExplorerRoutesOptions,
): void {
  const get = (path: string, read: (ctx: HttpContext) => Promise<object> | object): void => {
    router.get(BASE + path, async (ctx) => {
      await guardPublic(ctx);
      ctx.state.isCounted = true;
      sendJson(ctx, 200, { data: await read(ctx) });
    });
  };
  const titleOf = (network: string): string =>
    service.networks().find(({ name }) => name === network)?.title ?? network;
  /** Throws why there is nothing to show on a network at all. */
  const checkNetwork = (network: string): void => {
    const view = service.networks().find(({ name }) => name === network);
    if (view === undefined || !explorer.has(network)) {
      const names = service.networks().map(({ name }) => name);
      throw new MissingError(
        `There is no network ${JSON.stringify(network)} here. There are ${names.join(", ")}.`,
      );
    }
    if (view.status !== "serving")
      throw new UnreadableChainError(view.title, view.statusDetail ?? "it is starting");
  };
  /** On a network of the path: what was found, or why nothing was. */
  const find = async <View extends object>(
    ctx: HttpContext,
    read: (network: string, param: (name: string) => string) => Promise<View | undefined>,
    missing: (network: string, param: (name: string) => string) => string,
  ): Promise<View> => {
    const params = ctx["params"] as Readonly<Record<string, string>>;
    const param = (name: string): string => params[name] ?? "";
    const network = param("network");
    const view = service.networks().some(({ name }) => name === network)
      ? await read(network, param)
      : undefined;
    if (view !== undefined) return view;
    checkNetwork(network);
    throw new MissingError(missing(network, param));
  };

  get("/networks", () => ({
    items: service.networks().map(({ name, title, chainId, embedded, status, statusDetail, rpcUrl }) => ({
      name,
      title,
      chainId,
      embedded,
      status,
      statusDetail,
      rpcUrl,
    })),
  }));
  get("/networks/:network", (ctx) =>
    find(
      ctx,
      (network) => explorer.findOverview(network),
      (network) => `${titleOf(network)} can't be read now.`,
    ),
  );
  get("/networks/:network/transactions/:hash", (ctx) =>
    find(
      ctx,
      async (network, param) =>
        HASH.test(param("hash")) ? await explorer.findTransaction(network, param("hash") as Hex) : undefined,
      (network, param) =>
        HASH.test(param("hash"))
          ? `${titleOf(network)} has no transaction ${param("hash")}. It may have been sent to another network, to a chain that was since replaced, or have been kept as long as the service was told to.`
          : `A transaction hash is 0x and 64 hex digits; ${param("hash")} is not.`,
    ),
  );
  get("/networks/:network/blocks", (ctx) =>
    find(
      ctx,
      async (network) => await explorer.findBlocks(network, readBefore(ctx)?.block),
      (network) => `${titleOf(network)} can't be read now.`,
    ),
  );
  get("/networks/:network/blocks/:number", (ctx) =>
    find(
      ctx,
      async (network, param) =>
        NUMBER.test(param("number")) ? await explorer.findBlock(network, BigInt(param("number"))) : undefined,
      (network, param) => `${titleOf(network)} has no block ${param("number")}.`,
    ),
  );
  get("/networks/:network/addresses/:address", (ctx) =>
    find(
      ctx,
      async (network, param) =>
        ADDRESS.test(param("address"))
          ? await explorer.findAddress(network, param("address") as Hex, readBefore(ctx))
          : undefined,
      (_, param) => `An address is 0x and 40 hex digits; ${param("address")} is not.`,
    ),
  );
  get("/networks/:network/addresses/:address/contract", (ctx) =>
    find(
      ctx,
      async (network, param) =>
        ADDRESS.test(param("address"))
          ? await explorer.findContract(network, param("address") as Hex)
          : undefined,
      (_, param) =>
        `${param("address")} is no contract that this service deployed: the source of others is not known here.`,
    ),
  );
  get("/search", (ctx) => {
    const { q, network } = ctx.query;
    if (typeof q !== "string")
      throw new InvalidParameterError([{ path: "/q", message: "is required, once" }]);
    return searchEverywhere(q, {
      explorer,
      service,
      preferred: typeof network === "string" ? network : undefined,
    });
  });
  get("/results/:id", async (ctx) => {
    const shared = await service.getShared((ctx["params"] as { readonly id: string }).id);
    return { ...shared, updatedAt: new Date(shared.updatedAt).toISOString() };
  });
}

/** Where a page of a list begins: `before` of the query. */
function readBefore(ctx: HttpContext): ListCursor | undefined {
  const { before } = ctx.query;
  if (before === undefined) return undefined;
  const cursor = typeof before === "string" ? parseCursor(before) : undefined;
  if (cursor !== undefined) return cursor;
  const message = "is a block number, or one with a place in the block, such as 120.3";
  throw new InvalidParameterError([{ path: "/before", message }]);
}

/** What is asked for isn't on the chain. */
class MissingError extends TycheError {
  constructor(message: string) {
    super(message, { code: "not_found", blame: "caller" });
  }
}

/** A chain that can't be read for now. */
class UnreadableChainError extends TycheError {
  constructor(title: string, reason: string) {
    super(`${title} can't be read now: ${reason}. Try again in a few seconds.`, {
      code: "chain_unavailable",
      blame: "us",
      expose: true,
      retryable: true,
      details: { retryAfterMs: 2000 },
    });
  }
}
