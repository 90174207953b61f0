import type {
  ConsumerResult,
  FunctionResult,
  NetworkView,
  Outcome,
  PresetResult,
  PresetView,
  RandomResult,
  StateChange,
} from "../../src/api/types.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Hex } from "viem";
import { TycheError } from "../../src/lib/errors.ts";
import { UnauthenticatedError } from "../../src/dapps/keys.ts";
import { InvalidParameterError, type ParameterViolation } from "../../src/lib/invalidParameter.ts";
import { UnknownPresetError } from "../../src/presets/presetRegistry.ts";
import type { Command, RequestRecord, Service, SubmitOptions } from "../../src/requests/service.ts";
import type { Dapp } from "../../src/dapps/dapp.ts";
import type { RequestState } from "../../src/domain/vocabulary.ts";

/** A service for tests of the HTTP layer alone: it keeps requests in memory and ends them as the test decides. */
export interface ExampleService extends Service {
  /** Every submitted command, which would have reached a chain. */
  readonly submitted: { readonly command: Command; readonly options: SubmitOptions }[];
  /** Replaces the list of presets, as a change in the plugins folder would. */
  setPresets(presets: readonly PresetView[]): void;
  /** Sets the outcome of further submissions. Default: `fulfil`. */
  behave(behaviour: Behaviour): void;
  /** Ends an API key. */
  revoke(apiKey: string): void;
  /** Appends a state to a pending request. */
  advance(id: string, state: RequestState): void;
}

export type Behaviour =
  | "fulfil"
  | "pend"
  | { readonly throws: unknown }
  | { readonly fails: { readonly code: string; readonly message: string } };

export const API_KEY = `tyche_${"k".repeat(40)}`;
export const FUNCTIONS_ONLY_KEY = `tyche_${"f".repeat(40)}`;
export const READ_ONLY_KEY = `tyche_${"r".repeat(40)}`;
export const KEY_HASH: Hex = `0x${"ab".repeat(32)}`;
export const CONSUMER = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const HASH: Hex = `0x${"12".repeat(32)}`;
const URL_OF_HASH = `http://127.0.0.1/explorer/sepolia/tx/${HASH}`;
const AT = "2023-11-14T22:13:20.000Z";

export const DAPP: Dapp = { id: "dapp_1", name: "One", keyId: "key_1", facilities: ["presets", "functions"] };
const DAPPS: Readonly<Record<string, Dapp>> = {
  [API_KEY]: DAPP,
  [FUNCTIONS_ONLY_KEY]: { id: "dapp_2", name: "Two", keyId: "key_2", facilities: ["functions"] },
  [READ_ONLY_KEY]: { ...DAPP, keyId: "key_3", keyAccess: "read" },
};

export function createExampleService(): ExampleService {
  const records = new Map<string, RequestRecord>();
  const changed = new EventTarget();
  const submitted: ExampleService["submitted"] = [];
  const idempotent = new Map<string, { id: string; command: string }>();
  const revoked = new Set<string>();
  let presets = PRESETS;
  let behaviour: Behaviour = "fulfil";

  const get = (id: string): RequestRecord => {
    const record = records.get(id);
    if (record === undefined) throw caller("not_found", "There is no such request");
    return record;
  };
  const put = (record: RequestRecord, state: RequestState, more: Partial<RequestRecord> = {}) => {
    const entry: StateChange = {
      seq: record.timeline.length + 1,
      state,
      at: AT,
      ...(state === "received" ? {} : { transactionHash: HASH, url: URL_OF_HASH }),
    };
    const next = { ...record, state, timeline: [...record.timeline, entry], ...more };
    records.set(record.id, next);
    changed.dispatchEvent(new Event("change"));
    return next;
  };
  const nextChange = (signal: AbortSignal | undefined, timeoutMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(done, timeoutMs);
      function done() {
        clearTimeout(timer);
        changed.removeEventListener("change", done);
        signal?.removeEventListener("abort", done);
        resolve();
      }
      changed.addEventListener("change", done);
      signal?.addEventListener("abort", done);
    });
  const isOver = ({ state }: RequestRecord) => state === "fulfilled" || state === "failed";

  return {
    submitted,
    setPresets: (next) => {
      presets = next;
    },
    behave: (next) => {
      behaviour = next;
    },
    advance: (id, state) => {
      const record = get(id);
      put(record, state, state === "fulfilled" ? { outcome: outcomeOf(record) } : {});
    },
    revoke: (apiKey) => void revoked.add(apiKey),
    async authenticate(apiKey) {
      const isKnown = Object.hasOwn(DAPPS, apiKey) && !revoked.has(apiKey);
      const dapp = isKnown ? DAPPS[apiKey] : undefined;
      if (dapp === undefined) throw new UnauthenticatedError(apiKey);
      return dapp;
    },
    parsePresetParams: (...given) => parsePresetParams(presets, ...given),
    activity: async () => [],
    async check() {},

    async submit(dapp, command, options) {
      if (command.kind !== "function" && !dapp.facilities.includes("presets")) {
        throw caller("forbidden", "This dapp has no presets facility");
      }
      if (command.kind === "consumer" && command.dappId !== dapp.id)
        throw caller("not_found", "No such dapp");
      if (typeof behaviour === "object" && "throws" in behaviour) throw behaviour.throws;
      const { idempotencyKey } = options;
      const text = JSON.stringify(command);
      const earlier = idempotencyKey === undefined ? undefined : idempotent.get(idempotencyKey);
      if (earlier !== undefined) {
        if (earlier.command !== text) throw caller("idempotency_conflict", "Used before");
        return get(earlier.id);
      }
      submitted.push({ command, options });
      const id = `req_${String(submitted.length).padStart(26, "0")}`;
      if (idempotencyKey !== undefined) idempotent.set(idempotencyKey, { id, command: text });
      const { kind, network, ...params } = command;
      const record: RequestRecord = {
        id,
        dappId: dapp.id,
        kind,
        network,
        params,
        state: "received",
        why: null,
        createdAt: AT,
        updatedAt: AT,
        triggerId: null,
        timeline: [],
        outcome: null,
        error: null,
        ...(kind === "consumer" || kind === "unlink" ? {} : { shareUrl: `http://127.0.0.1/r/${id}` }),
      };
      const received = put(record, "received");
      if (behaviour === "fulfil") put(received, "fulfilled", { outcome: outcomeOf(received) });
      else if (typeof behaviour === "object") put(received, "failed", { error: behaviour.fails });
      return received;
    },
    async wait(id, { timeoutMs, signal }) {
      const until = performance.now() + timeoutMs;
      for (;;) {
        const left = until - performance.now();
        const record = get(id);
        if (isOver(record) || left <= 0 || signal?.aborted === true) return record;
        await nextChange(signal, left);
      }
    },
    async *watch(_dapp, id, { afterSeq, signal }) {
      let seq = afterSeq;
      while (!signal.aborted) {
        const record = get(id);
        const entry = record.timeline[seq];
        if (entry !== undefined) {
          seq += 1;
          yield entry;
        } else if (isOver(record)) return;
        else await nextChange(signal, 60_000);
      }
    },
    async getRequest(dapp, id) {
      const record = get(id);
      if (record.dappId !== dapp.id) throw caller("not_found", "There is no such request");
      return record;
    },
    async getShared(id) {
      throw caller("not_found", `There is no result ${id}`);
    },
    async listOnChain() {
      return { items: [], nextCursor: null };
    },
    async findOnChain() {
      return [];
    },
    async searchPrefix() {
      return { transactions: [], requests: [] };
    },
    async listRequests(dapp, { limit, cursor, state, kind, network }) {
      if (cursor !== undefined && !/^[0-9]+$/.test(cursor)) {
        throw new InvalidParameterError([{ path: "/cursor", message: "is not a cursor of an earlier page" }]);
      }
      const start = Number(cursor ?? 0);
      const all = [...records.values()]
        .filter((record) => record.dappId === dapp.id)
        .filter((record) => state === undefined || record.state === state)
        .filter((record) => kind === undefined || record.kind === kind)
        .filter((record) => network === undefined || record.network === network)
        .toReversed();
      const items = all.slice(start, start + limit);
      return { items, nextCursor: start + limit < all.length ? String(start + limit) : null };
    },
    listDryRuns: async () => ({ items: [DRY_RUN], nextCursor: null }),
    async getDryRun(_dapp, id) {
      if (id !== DRY_RUN.id) throw caller("not_found", "There is no such dry run");
      return { ...DRY_RUN, params: { source: DRY_RUN.title, args: [], returnType: "string" } };
    },
    async readUsage(_dapp, { from = "2026-11-01", to = "2026-11-30", network = "sepolia" }) {
      const requests = { preset: 2, function: 1, random: 0, consumer: 0, unlink: 0 };
      const counts = { fulfilled: 2, failed: 1, refused: 4, dryRuns: 5, words: 2 };
      const spent = { gasUsed: "300000", linkJuels: "2000000000000000001", coinWei: "0" };
      const toppedUp = { toppedUpJuels: "5000000000000000000", toppedUpWei: "0" };
      return { from, to, items: [{ day: from, network, requests, ...counts, ...spent, ...toppedUp }] };
    },
    findSpentBudget: async () => undefined,
    async deleteDapp(dapp, dappId) {
      if (dappId !== dapp.id) throw caller("not_found", "No such dapp");
      return { success: true, dappId };
    },
    async useFaucet() {
      return { success: true, coinWei: "1", linkJuels: "2", transactionHashes: [HASH, HASH] };
    },
    async simulate() {
      if (typeof behaviour === "object" && "throws" in behaviour) throw behaviour.throws;
      return {
        success: true,
        result: "0x2a",
        parsedResult: "*",
        value: "*",
        err: "0x",
        console: "hello\n",
        consoleTruncated: false,
        timeMs: 1.5,
        memoryBytes: 1000,
        httpRequests: 0,
      };
    },
    networks: () => NETWORKS,
    findNetwork: (wanted) => NETWORKS.find(({ name }) => name === wanted),
    networksWithNodes: async () => NETWORKS,
    presets: () => presets,
    presetProblems: () => [],
    async readiness() {
      return {
        ready: true,
        sandbox: { ready: true, layers: [] },
        networks: { sepolia: { ready: true, blockNumber: 7 } },
      };
    },
  };
}

export function caller(code: string, message: string): TycheError {
  return new TycheError(message, { code, blame: "caller" });
}

function outcomeOf({ kind, id, network }: RequestRecord): Outcome {
  const url = URL_OF_HASH;
  const shareUrl = `http://127.0.0.1/r/${id}`;
  const functionResult = {
    success: true,
    id,
    network,
    requestId: HASH,
    result: HASH,
    parsedResult: "1",
    value: "1",
    err: "0x",
    url,
    shareUrl,
  } as const satisfies FunctionResult;
  // Of a union, a spread object may be any member: each says which it is.
  if (kind === "preset")
    return { ...functionResult, vrfv2Hash: HASH, vrfv2EventHash: url } satisfies PresetResult;
  if (kind === "function") return functionResult;
  if (kind === "random") {
    const words = { randomNumber: ["1", "2"], value: ["1", "2"] };
    return {
      success: true,
      id,
      network,
      requestId: HASH,
      transactionHash: HASH,
      url,
      shareUrl,
      ...words,
    } satisfies RandomResult;
  }
  return { success: true, id, network, transactionHash: HASH } satisfies ConsumerResult;
}

const NETWORKS: readonly NetworkView[] = (
  [
    ["polygon_mumbai", 80001],
    ["sepolia", 11155111],
    ["fuji", 43113],
    ["fantom_testnet", 4002],
  ] as const
).map(([name, chainId]) => ({
  name,
  title: name,
  chainId,
  coin: "ETH",
  embedded: true,
  hasEthereumBlocks: true,
  explorerUrl: `http://127.0.0.1/explorer/${name}`,
  status: "serving",
  contracts: {
    link: CONSUMER,
    vrfCoordinator: CONSUMER,
    functionsRouter: CONSUMER,
    functionsCoordinator: CONSUMER,
    presetConsumer: CONSUMER,
    subscriptionOwner: CONSUMER,
  },
  vrf: {
    version: "v2" as const,
    nativePayment: false,
    keyHashes: [KEY_HASH],
    minConfirmations: name === "sepolia" ? 3 : 1,
    maxConfirmations: 200,
    maxWords: 500,
  },
  functions: {
    donId: "fun-tyche-1",
    maxSourceBytes: 30_720,
    maxRequestBytes: 30_720,
    maxResponseBytes: 1024,
  },
}));

const decimal = (fallback?: string) => ({
  type: "string",
  pattern: "^-?[0-9]{1,78}$",
  ...(fallback === undefined ? {} : { default: fallback }),
});

function preset(name: string, properties: Record<string, unknown>, required: string[] = []): PresetView {
  return {
    name,
    title: name,
    description: `The ${name} preset.`,
    parameters: { type: "object", properties, required, additionalProperties: false },
    parameterOrder: Object.keys(properties),
    source: "return Functions.encodeString('1');",
    returnType: "string",
    value: { type: "string" },
    examples: [{ params: required.includes("list") ? { list: ["a", "b"] } : {}, parsedResult: "1" }],
  };
}

export const PRESETS: readonly PresetView[] = [
  preset("coinflip", {}),
  preset("range", { min: decimal("1"), max: decimal("10") }),
  preset("lotto", { numberOfWinners: decimal("1"), list: { type: "array", items: { type: "string" } } }, [
    "list",
  ]),
  preset("nDice", { numFaces: decimal("20"), numDice: decimal("10") }),
];

const ajv = new Ajv2020({ allErrors: true, useDefaults: true });

/** A small version of the presets' parameter parsing; the real one is tested with the presets. */
function parsePresetParams(
  presets: readonly PresetView[],
  ...[name, given]: Parameters<Service["parsePresetParams"]>
): ReturnType<Service["parsePresetParams"]> {
  const parameters = presets.find((preset) => preset.name === name)?.parameters;
  if (parameters === undefined)
    throw new UnknownPresetError(name, { names: presets.map((one) => one.name), problems: undefined });
  const params: Record<string, unknown> = { ...given };
  for (const [key, value] of Object.entries(params)) {
    if (Number.isSafeInteger(value)) params[key] = String(value);
  }
  const violations: ParameterViolation[] = [];
  if (!ajv.validate(parameters, params)) {
    for (const error of ajv.errors ?? []) {
      const name = error.params["additionalProperty"] ?? error.params["missingProperty"];
      violations.push({
        path: error.instancePath + (name === undefined ? "" : `/${String(name)}`),
        message: name === undefined ? (error.message ?? "") : error.keyword,
      });
    }
  } else if (name === "range" && BigInt(params["min"] as string) > BigInt(params["max"] as string)) {
    violations.push({ path: "/min", message: "must not be more than max" });
  } else if (name === "nDice" && BigInt(params["numDice"] as string) > 100n) {
    violations.push({ path: "/numDice", message: "must be at most 100" });
  }
  if (violations.length > 0) throw new InvalidParameterError(violations);
  return params;
}

/** A call that was refused. */
const DRY_RUN = {
  id: `dry_${"0".repeat(26)}`,
  kind: "function",
  network: null,
  at: "2026-11-22T00:00:00.000Z",
  title: "return 1 +",
  success: false,
  parsedResult: "",
  err: "syntax error",
  console: "",
  line: 1,
  column: 11,
} as const;
