import type { Router } from "@koa/router";
import type { Registry } from "prom-client";
import { sendStored, storeFile, type StoredFile } from "../../lib/storedFile.ts";
import type { HttpDeps, RequestState } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { LiveSchemas } from "../liveSchemas.ts";
import { describeApi, describeForModels } from "../openapi.ts";
import type { Operation } from "../operation.ts";
import type { PublicGuard } from "../publicGuard.ts";

/** Adds the endpoints for operators and tools: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/llms.txt`. None needs a key. */
export function healthRoutes(
  router: Router<RequestState>,
  options: {
    readonly deps: HttpDeps;
    readonly registry: Registry;
    readonly operations: readonly Operation[];
    readonly guardPublic: PublicGuard;
  },
): void {
  const { deps, registry, operations, guardPublic } = options;

  router.get("/healthz", (ctx) => {
    ctx.set("Cache-Control", "no-store");
    sendJson(ctx, 200, { status: "ok" });
  });

  router.get("/readyz", async (ctx) => {
    // Behind a load balancer all callers may share its address; using up that quota must not make the balancer consider the
    // service dead.
    await guardPublic(ctx, { isCounted: false });
    const readiness = await deps.service.readiness();
    const ready = readiness.ready && !deps.leaving.aborted;
    ctx.set("Cache-Control", "no-store");
    sendJson(ctx, ready ? 200 : 503, { ...readiness, ready });
  });

  router.get("/metrics", async (ctx) => {
    await guardPublic(ctx);
    ctx.set("Cache-Control", "no-store");
    ctx.set("Content-Type", registry.contentType);
    ctx.body = await registry.metrics();
  });

  /** Serves a description of the API; it is rebuilt only when networks or presets change. */
  const describeAt = (path: string, type: string, describe: (schemas: LiveSchemas) => string): void => {
    let described: { readonly schemas: LiveSchemas; readonly file: StoredFile } | undefined;
    router.get(path, (ctx) => {
      const schemas = deps.schemas();
      if (described?.schemas !== schemas)
        described = { schemas, file: storeFile(`${type}; charset=utf-8`, describe(schemas)) };
      ctx.set("Cache-Control", "no-cache");
      ctx.set("Access-Control-Allow-Origin", "*");
      ctx.set("Cross-Origin-Resource-Policy", "cross-origin");
      sendStored(ctx, described.file);
    });
  };
  describeAt("/openapi.json", "application/json", (schemas) =>
    JSON.stringify(describeApi(operations, schemas)),
  );
  describeAt("/llms.txt", "text/markdown", (schemas) => describeForModels(operations, schemas));
}
