import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { parsePresetParams } from "../presets/presetParams.ts";
import type { PresetRegistry } from "../presets/presetRegistry.ts";
import { assertResultFits } from "../presets/resultFit.ts";
import type { SandboxPool } from "../../sandbox/index.ts";
import { listRequests } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import { createAcceptance } from "./acceptance.ts";
import type { Acceptance } from "./acceptance.ts";
import { createCommandChecker, requireFacility } from "./commandChecker.ts";
import { simulateSource } from "./commands.ts";
import type { DappDirectory } from "../dapps/dapps.ts";
import { NotFoundError } from "./errors.ts";
import { presentRequest } from "./present.ts";
import { isEnded } from "./requestBook.ts";
import type { RequestBook } from "./requestBook.ts";
import { parseRequest } from "./openRequest.ts";
import type { OpenRequest } from "./openRequest.ts";
import type { Dapp, RequestRecord, Service } from "./service.ts";
import type { ServiceNetwork } from "./serviceNetwork.ts";
import type { NetworkView, PresetView } from "./views.ts";

/** Options of {@link createService}. */
export interface ServiceOptions {
  readonly store: Store;
  readonly book: RequestBook;
  readonly dapps: DappDirectory;
  readonly pool: SandboxPool;
  readonly registry: PresetRegistry;
  readonly networks: ReadonlyMap<string, ServiceNetwork>;
  /** Requests in work on one network. Default 2,500. */
  readonly maxOpenPerNetwork?: number;
}

/** The use cases over their parts. */
export function createService(options: ServiceOptions): Service & Pick<Acceptance, "resumeChecks"> {
  const { store, book, dapps, pool, registry, networks } = options;
  let networkViews: readonly NetworkView[] = [];
  let presetViews: { readonly of: unknown; readonly views: readonly PresetView[] } = {
    of: undefined,
    views: [],
  };

  const getNetwork = (name: string): ServiceNetwork => {
    const network = networks.get(name);
    if (network !== undefined) return network;
    const message = `must be one of ${[...networks.keys()].join(", ")}, not ${JSON.stringify(name)}`;
    throw new InvalidParameterError([{ path: "/network", message }]);
  };
  const present = (request: OpenRequest): RequestRecord => {
    const { explorerUrl } = getNetwork(request.network);
    return presentRequest(request, (hash) => `${explorerUrl}/tx/${hash}`);
  };
  /** What a pending request waits for is found out when somebody wants to know. */
  const explainAndPresent = async (request: OpenRequest): Promise<RequestRecord> => {
    if (isEnded(request.state)) return present(request);
    if (request.state === "checking")
      return present({ ...request, why: "its source is run once before it is sent" });
    const network = getNetwork(request.network);
    const pipeline = network.pipeline();
    const why =
      pipeline === undefined
        ? `${network.profile.name} does not serve: ${network.view().statusDetail ?? "it is starting"}`
        : await pipeline.explain(request);
    return present({ ...request, why });
  };
  const findOwn = async (dapp: Dapp, id: string): Promise<OpenRequest> => {
    const request = await book.find(id);
    if (request?.dappId !== dapp.id) throw new NotFoundError(`request ${id}`);
    return request;
  };
  const checker = createCommandChecker({ store, pool, registry });

  const acceptance = createAcceptance({ ...options, checker, getNetwork });

  return {
    resumeChecks: (network) => acceptance.resumeChecks(network),

    authenticate: (apiKey) => dapps.authenticate(apiKey),

    parsePresetParams(name, raw, { network }) {
      const preset = registry.get(name);
      const { params } = parsePresetParams(preset, raw);
      if (network !== undefined) {
        const { maxResponseBytes } = getNetwork(network);
        assertResultFits(preset, params, { network, maxResponseBytes });
      }
      return { ...params };
    },

    submit: async (dapp, command, options) => present(await acceptance.accept(dapp, command, options)),

    async wait(id, { timeoutMs, signal }) {
      const { promise, resolve } = Promise.withResolvers<OpenRequest | undefined>();
      const stop = book.listen(id, (request) => {
        if (isEnded(request.state)) resolve(request);
      });
      const giveUp = (): void => resolve(undefined);
      const timer = setTimeout(giveUp, timeoutMs);
      signal?.addEventListener("abort", giveUp);
      try {
        if (book.get(id) === undefined) {
          const stored = await book.find(id);
          if (stored === undefined) throw new NotFoundError(`request ${id}`);
          if (isEnded(stored.state)) return present(stored);
        }
        const last = (signal?.aborted ? undefined : await promise) ?? (await book.find(id));
        if (last === undefined) throw new NotFoundError(`request ${id}`);
        // Whoever has left isn't told why.
        return signal?.aborted ? present(last) : await explainAndPresent(last);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        stop();
      }
    },

    async *watch(dapp, id, { afterSeq, signal }) {
      let changed = Promise.withResolvers<void>();
      const stop = book.listen(id, () => changed.resolve());
      const end = (): void => changed.resolve();
      signal.addEventListener("abort", end);
      try {
        let told = afterSeq;
        while (!signal.aborted) {
          const next = Promise.withResolvers<void>();
          const request = await findOwn(dapp, id);
          for (const entry of request.timeline) {
            if (entry.seq <= told) continue;
            told = entry.seq;
            yield entry;
          }
          if (isEnded(request.state)) return;
          await changed.promise;
          changed = next;
        }
      } finally {
        signal.removeEventListener("abort", end);
        stop();
      }
    },

    getRequest: async (dapp, id) => await explainAndPresent(await findOwn(dapp, id)),

    async listRequests(dapp, { limit, cursor, ...filter }) {
      if (cursor !== undefined && !/^req_[0-9a-hjkmnp-tv-z]{26}$/.test(cursor)) {
        throw new InvalidParameterError([
          { path: "/cursor", message: "must be the nextCursor of an earlier page" },
        ]);
      }
      const rows = await listRequests(store.db, {
        dappId: dapp.id,
        limit: limit + 1,
        before: cursor,
        ...filter,
      });
      const items = rows
        .slice(0, limit)
        .map(parseRequest)
        .map((row) => {
          const why = row.why ?? getNetwork(row.network).pipeline()?.explained(row.id) ?? null;
          return present(isEnded(row.state) ? row : { ...row, why });
        });
      return { items, nextCursor: rows.length > limit ? items.at(-1)!.id : null };
    },

    async simulate(dapp, command) {
      requireFacility(dapp, "functions");
      const asked = command.network === undefined ? [...networks.values()] : [getNetwork(command.network)];
      const maxResponseBytes = Math.min(...asked.map((network) => network.maxResponseBytes));
      return await simulateSource(command, { pool, dappId: dapp.id, maxResponseBytes });
    },

    networks() {
      const views = [...networks.values()].map((network) => network.view());
      if (views.length !== networkViews.length || views.some((view, i) => view !== networkViews[i]))
        networkViews = views;
      return networkViews;
    },

    presets() {
      const presets = registry.list();
      if (presetViews.of !== presets) {
        const views = presets.map(
          ({ name, title, description, parameters, parameterOrder, returnType, examples }) => ({
            name,
            title,
            description,
            parameters: { ...parameters },
            parameterOrder: [...parameterOrder],
            returnType,
            examples: examples.map((example) => ({
              params: { ...example.params },
              parsedResult: example.parsedResult,
            })),
          }),
        );
        presetViews = { of: presets, views };
      }
      return presetViews.views;
    },

    async readiness() {
      const entries = await Promise.all(
        [...networks].map(async ([name, network]) => [name, await network.readiness()] as const),
      );
      const { isReady, why } = pool.status();
      const ready = isReady && entries.every(([, one]) => one.ready);
      const sandbox = { ready: isReady, ...(why === undefined ? {} : { why }) };
      return { ready, sandbox, networks: Object.fromEntries(entries) };
    },
  };
}
