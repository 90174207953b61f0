import { createSecrets, findSecrets, withValues, type Secrets } from "./secrets.ts";
import type { Hex } from "viem";
import type { FaucetResult, NetworkView, PresetView, Readiness } from "../api/types.ts";
import type { SandboxPool } from "../../sandbox/index.ts";
import type { DappDirectory } from "../dapps/dapps.ts";
import { NotFoundError, TycheError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { ChainUnavailableError } from "../networks/chainUnavailable.ts";
import { parsePresetParams } from "../presets/presetParams.ts";
import type { PresetRegistry } from "../presets/presetRegistry.ts";
import { createAcceptance, type Acceptance, type AcceptanceOptions } from "./accept/acceptance.ts";
import { createActivity } from "./read/activity.ts";
import { createDeletedDapps, type DeletedDapps } from "./keep/deletedDapps.ts";
import { createCommandChecker, requireFacility } from "./accept/commandChecker.ts";
import { assertCompiles, simulateSource } from "./accept/dryRun.ts";
import { readDryRun, readDryRuns, recordDryRun } from "./accept/dryRunLog.ts";
import { createRequestReader, waitForEnd, watchTimeline } from "./read/requestReader.ts";
import type { Service } from "./service.ts";
import { getIntake, type ServiceNetwork } from "./serviceNetwork.ts";
import { readUsage } from "./read/usageReport.ts";
import type { Preset } from "../presets/preset.ts";

export interface ServiceOptions extends Omit<AcceptanceOptions, "checker" | "getNetwork"> {
  readonly dapps: DappDirectory;
  readonly pool: SandboxPool;
  readonly registry: PresetRegistry;
  readonly networks: ReadonlyMap<string, ServiceNetwork>;
}

/** Creates the service from its parts. */
export function createService(
  options: ServiceOptions,
): Service & Pick<Acceptance, "resumeChecks"> & DeletedDapps & { readonly secrets: Secrets } {
  const { store, book, dapps, pool, registry, networks } = options;
  const getNetwork = (name: string): ServiceNetwork => {
    const network = networks.get(name);
    if (network !== undefined) return network;
    const message = `must be one of ${[...networks.keys()].join(", ")}, not ${JSON.stringify(name)}`;
    throw new InvalidParameterError([{ path: "/network", message }]);
  };
  const catalogue = createCatalogue(networks, registry);
  const { present, explain, getOwn, ...reads } = createRequestReader(options);
  const secrets = createSecrets({ store, getNetwork, findNetwork: (name) => networks.get(name) });
  const checker = createCommandChecker({ store, pool, registry, secrets });
  const acceptance = createAcceptance({ ...options, checker, getNetwork });
  const deletedDapps = createDeletedDapps({ store, book, acceptance });

  return {
    ...catalogue,

    ...reads,

    secrets,

    ...deletedDapps,

    resumeChecks: (network, sinceMs) => acceptance.resumeChecks(network, sinceMs),

    authenticate: (apiKey) => dapps.authenticate(apiKey),

    parsePresetParams(name, raw, { network }) {
      // Throws for an unknown one.
      if (network !== undefined) getNetwork(network);
      return { ...parsePresetParams(registry.get(name), raw, network).params };
    },

    submit: async (dapp, command, options) => present(await acceptance.accept(dapp, command, options)),

    async check(dapp, command) {
      try {
        await checker.check(dapp, command, getNetwork(command.network));
        if (command.kind === "function") await assertCompiles(command.source, { pool, dappId: dapp.id });
      } catch (error) {
        if (!(error instanceof TycheError) || !error.retryable) throw error;
      }
    },

    async wait(id, { timeoutMs, signal }) {
      const request = await waitForEnd(book, id, { timeoutMs, signal });
      // A caller that has left needs no explanation.
      return signal?.aborted ? present(request) : await explain(request);
    },

    watch: (dapp, id, { afterSeq, signal }) =>
      watchTimeline(book, id, {
        read: async () => present(await getOwn(dapp, id)),
        afterSeq,
        signal,
      }),

    getRequest: async (dapp, id) => await explain(await getOwn(dapp, id)),

    async simulate(dapp, command, { signal } = {}) {
      requireFacility(dapp, "functions");
      const { network, source, secrets: names, secretValues: values } = command;
      if (names !== undefined && values === undefined && network === undefined && networks.size > 1)
        throw new InvalidParameterError([
          { path: "/network", message: "is needed with secrets: they belong to one" },
        ]);
      const asked = network === undefined ? [...networks.values()][0]! : getNetwork(network);
      const runWithSecrets =
        values === undefined
          ? await findSecrets(secrets, dapp.id, asked, names)
          : withValues(pool, values, names);
      const checks = { pool, dappId: dapp.id, signal, runWithSecrets };
      const { result, showsSecret } = await simulateSource(command, checks);
      await recordDryRun(store, { dappId: dapp.id, network, kind: "dry-run", source, result, showsSecret });
      return result;
    },

    listDryRuns: (dapp, options) => readDryRuns(store.db, dapp.id, options),

    getDryRun: (dapp, id) => readDryRun(store.db, dapp.id, id),

    readUsage: (dapp, query) => readUsage(store.db, dapp.id, query),

    findSpentBudget: async (dapp, network) => (await getNetwork(network).findSpentBudget(dapp.id))?.message,

    async deleteDapp({ id }, dappId) {
      if (dappId !== id) throw new NotFoundError(`dapp ${dappId}`);
      await dapps.delete(dappId);
      return { success: true, dappId };
    },

    useFaucet: ({ network, address }) => giveFrom(getNetwork(network), address),

    networksWithNodes: () => Promise.all([...networks.values()].map(viewWithNodes)),

    readiness: () => readReadiness(networks, pool),

    activity: createActivity(store),
  };
}

async function giveFrom(served: ServiceNetwork, address: Hex): Promise<FaucetResult> {
  const { name: network } = served.profile;
  if (!served.view().embedded) {
    const message = `has no faucet: ${network} is not embedded`;
    throw new InvalidParameterError([{ path: "/network", message }]);
  }
  getIntake(served);
  const faucet = served.faucet?.();
  if (faucet === undefined) throw new ChainUnavailableError(network, "its faucet is starting");
  const { coinWei, linkJuels, transactionHashes } = await faucet.give(address);
  return {
    success: true,
    coinWei: String(coinWei),
    linkJuels: String(linkJuels),
    transactionHashes: [...transactionHashes],
  };
}

async function viewWithNodes(network: ServiceNetwork): Promise<NetworkView> {
  const nodes = await network.oracleNodes();
  return nodes === undefined || nodes.length === 0
    ? network.view()
    : { ...network.view(), nodes: [...nodes] };
}

async function readReadiness(
  networks: ReadonlyMap<string, ServiceNetwork>,
  pool: SandboxPool,
): Promise<Readiness> {
  const entries = await Promise.all(
    [...networks].map(async ([name, network]) => [name, await network.readiness()] as const),
  );
  const { isReady, layers, why } = pool.status();
  const ready = isReady && entries.every(([, one]) => one.ready);
  const sandbox = { ready: isReady, layers: [...layers], ...(why === undefined ? {} : { why }) };
  return { ready, sandbox, networks: Object.fromEntries(entries) };
}

/** Creates the catalogue of the served networks and the live presets. Each list is the same array until its content changes. */
function createCatalogue(
  networks: ReadonlyMap<string, ServiceNetwork>,
  registry: Pick<PresetRegistry, "list" | "problems">,
): Pick<Service, "networks" | "findNetwork" | "presets" | "presetProblems"> {
  let networkViews: readonly NetworkView[] = [];
  let presetViews: { readonly of: unknown; readonly views: readonly PresetView[] } = {
    of: undefined,
    views: [],
  };
  return {
    networks() {
      const views = [...networks.values()].map((network) => network.view());
      if (views.length !== networkViews.length || views.some((view, i) => view !== networkViews[i]))
        networkViews = views;
      return networkViews;
    },
    findNetwork: (name) => networks.get(name)?.view(),
    presets() {
      const presets = registry.list();
      if (presetViews.of !== presets) presetViews = { of: presets, views: presets.map(viewOf) };
      return presetViews.views;
    },
    presetProblems: () => registry.problems(),
  };
}

function viewOf(preset: Preset): PresetView {
  const { name, title, description, parameters, parameterOrder, returnType, value, examples, written } =
    preset;
  return {
    name,
    title,
    description,
    parameters: { ...parameters },
    parameterOrder: [...parameterOrder],
    source: written.source,
    returnType,
    value: { ...value },
    examples: examples.map((example) => ({
      params: { ...example.params },
      parsedResult: example.parsedResult,
    })),
  };
}
