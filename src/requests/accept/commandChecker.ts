import type { NetworkView } from "../../api/types.ts";
import { isAddressEqual, type Hex } from "viem";
import { MAX_CONSUMERS } from "../../chainlink/limits.ts";
import { encodeArgs, sandboxGroup } from "../../chainlink/functionsRequest.ts";
import { ForbiddenError, NotFoundError, TycheError } from "../../lib/errors.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { BEACON_BYTES, MAX_ARGUMENT_BYTES } from "../../chainlink/presetBatch.ts";
import { beaconOf } from "../../text/draw.ts";
import type { Preset } from "../../presets/preset.ts";
import { parsePresetParams } from "../../presets/presetParams.ts";
import type { PresetRegistry } from "../../presets/presetRegistry.ts";
import type { SandboxPool } from "../../../sandbox/index.ts";
import type { ConsumerLists } from "../../dapps/subscriptionReads.ts";
import { findConsumer } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";
import { chooseBeacon } from "./chooseBeacon.ts";
import { assertRequestFits, dryRunFunction, dryRunPreset } from "./dryRun.ts";
import type {
  Command,
  ConsumerCommand,
  FunctionCommand,
  Labelled,
  PresetCommand,
  RandomCommand,
  UnlinkCommand,
} from "../service.ts";
import type { Dapp } from "../../dapps/dapp.ts";
import type { LinkOutcome, RequestContent, RequestFacts } from "../openRequest.ts";
import { findSecrets, type SecretsReader } from "../secrets.ts";
import { getIntake, type ServiceNetwork } from "../serviceNetwork.ts";
import { spellingOf } from "../../domain/label.ts";

/** Checks whether a command can be carried out, before it is accepted. */
export interface CommandChecker {
  /**
   * Checks what depends on the dapp, the chain and sizes. Throws the error that the caller sees. Returns the command in the form in which it
   * is stored; if that has an outcome already, the request ends at once and nothing is sent.
   */
  check(dapp: Dapp, command: Command, network: ServiceNetwork): Promise<RequestContent>;
  /**
   * Dry-runs the source of a checked preset or function, and ensures that a preset's source is stored on chain. Throws
   * likewise. `signal` cancels the run of a function. Returns what the request keeps of it.
   */
  dryRun(
    dapp: Pick<Dapp, "id">,
    content: RequestContent,
    network: ServiceNetwork,
    signal?: AbortSignal,
  ): Promise<Pick<RequestFacts, "dryRun" | "warnings">>;
}

/** Creates the checker. */
export function createCommandChecker(options: {
  readonly store: Store;
  readonly pool: SandboxPool;
  readonly registry: PresetRegistry;
  readonly secrets: SecretsReader;
}): CommandChecker {
  const { store, pool, registry, secrets } = options;
  return {
    async check(dapp, command, network) {
      switch (command.kind) {
        case "preset":
          requireFacility(dapp, "presets");
          return checkPresetCommand(command, { preset: registry.get(command.preset), network, dapp });
        case "function":
          requireFacility(dapp, "functions");
          return checkFunctionCommand(command, {
            network,
            secretsReference: command.secrets && (await secrets.refer(dapp.id, network, command.secrets)),
          });
        case "random":
          requireFacility(dapp, "presets");
          return checkRandom(command, network.view());
        case "consumer": {
          const outcome = await checkConsumer(dapp, command, { network, store });
          const params = { dappId: command.dappId, consumer: command.consumer };
          return { kind: "consumer", params, progress: {}, outcome };
        }
        case "unlink":
          await checkUnlink(dapp, command, network);
          return { kind: "unlink", params: { consumer: command.consumer }, progress: {}, outcome: null };
      }
    },
    async dryRun(dapp, { kind, params, progress }, network, signal) {
      if (kind !== "preset" && kind !== "function") return {};
      const intake = getIntake(network);
      const subscription = intake.subscriptions.find(dapp.id);
      const group =
        subscription &&
        sandboxGroup(network.view().contracts.functionsRouter, subscription.functionsSubscriptionId);
      const options = { pool, dappId: dapp.id, group };
      if (kind === "function") {
        if (params.secrets !== undefined && !secrets.canRun(network)) return { warnings: [NOT_RUN] };
        const runWithSecrets = await findSecrets(secrets, dapp.id, network, params.secrets);
        const { beacon: round, ...source } = params;
        const beacon = beaconOf(round);
        const command = { ...source, ...(beacon && { beacon }) };
        return await dryRunFunction(command, { ...options, signal, runWithSecrets });
      }
      const preset = registry.get(params.preset);
      if ((progress.sourceHash ?? preset.sourceHash) !== preset.sourceHash)
        throw new PresetChangedError(preset.name);
      await dryRunPreset(preset, progress.args, options);
      await intake.storeSource(preset);
      return {};
    },
  };
}

/** Reads the consumers of a dapp from the chain; both lists are empty until its subscriptions exist. */
async function readConsumers(dapp: Dapp, network: ServiceNetwork): Promise<ConsumerLists> {
  const { subscriptions } = getIntake(network);
  const subscription = subscriptions.find(dapp.id);
  return subscription === undefined
    ? { vrf: [], functions: [] }
    : await subscriptions.readConsumers(subscription);
}

/** Returns the outcome of an earlier linking that still holds on chain and needs no second transaction; otherwise `null`. */
async function checkConsumer(
  dapp: Dapp,
  command: ConsumerCommand,
  { network, store }: { readonly network: ServiceNetwork; readonly store: Store },
): Promise<LinkOutcome | null> {
  if (command.dappId !== dapp.id) throw new NotFoundError(`dapp ${command.dappId}`);
  if ((await network.getCode(command.consumer)) === "0x") {
    const message = `there is no contract at ${command.consumer} on ${command.network}; deploy it there first`;
    throw new InvalidParameterError([{ path: "/consumer", message }]);
  }
  if (isAddressEqual(command.consumer, network.view().contracts.presetConsumer)) {
    const message = `${command.consumer} is the service's own consumer, which is linked already; link a contract of your own`;
    throw new InvalidParameterError([{ path: "/consumer", message }]);
  }
  const { vrf, functions } = await readConsumers(dapp, network);
  const [onVrf, onFunctions] = [vrf, functions].map((list) => list.includes(command.consumer));
  if (onVrf && onFunctions) {
    const place = { dappId: dapp.id, network: command.network, address: command.consumer };
    const known = await findConsumer(store.db, place);
    return known === undefined ? null : { transactionHash: known.transactionHash as Hex };
  }
  if ((!onVrf && vrf.length >= MAX_CONSUMERS) || (!onFunctions && functions.length >= MAX_CONSUMERS))
    throw new TycheError(
      `this dapp has ${MAX_CONSUMERS - 1} contracts linked, the most that a subscription takes (${MAX_CONSUMERS} with the service's own); unlink one with DELETE /api/vrfv2/consumers/{address}, or use another dapp`,
      {
        code: "too_many_consumers",
        blame: "caller",
        details: { limit: MAX_CONSUMERS - 1 },
      },
    );
  return null;
}

async function checkUnlink(dapp: Dapp, command: UnlinkCommand, network: ServiceNetwork): Promise<void> {
  const { contracts } = network.view();
  if (isAddressEqual(command.consumer, contracts.presetConsumer)) {
    const message = `${command.consumer} is the service's own consumer, through which the dapp's presets run; it stays`;
    throw new InvalidParameterError([{ path: "/consumer", message }]);
  }
  const { vrf, functions } = await readConsumers(dapp, network);
  if (!vrf.includes(command.consumer) && !functions.includes(command.consumer))
    throw new NotFoundError(`consumer ${command.consumer} of this dapp on ${command.network}`);
}

/** A preset was replaced before a request for it was checked. */
class PresetChangedError extends TycheError {
  constructor(name: string) {
    super(`the preset ${name} was replaced before the request was checked`, {
      code: "request_failed",
      blame: "us",
    });
  }
}

const NOT_RUN =
  "the source was not run before it was sent: this network's nodes open secrets only for requests on chain; simulate with secretValues is a dry run";

/** @throws {ForbiddenError} when the dapp may not use the facility. */
export function requireFacility(dapp: Dapp, facility: Dapp["facilities"][number]): void {
  if (!dapp.facilities.includes(facility))
    throw new ForbiddenError(`this key's dapp lacks the facility "${facility}"; ask the operator to add it`);
}

function checkRandom(command: RandomCommand, { vrf }: NetworkView): RequestContent {
  const confirmations = command.confirmations ?? vrf.minConfirmations;
  const [keyHash = command.keyHash ?? vrf.keyHashes[0]!, ...others] = command.keyHashes ?? [];
  const { numWords } = command;
  const joined = others.length === 0 ? {} : { keyHashes: [keyHash, ...others] };
  const params = { numWords, confirmations, keyHash, ...joined, ...labelsOf(command) };
  return { kind: "random", params, progress: spellingOf(command), outcome: null };
}

/** Checks a preset's parameters, and that its result and arguments fit. */
export function checkPresetCommand(
  command: PresetCommand,
  options: {
    readonly preset: Preset;
    readonly network: Pick<ServiceNetwork, "beacon" | "localBeacon">;
    readonly dapp: Pick<Dapp, "beacon">;
  },
): Extract<RequestContent, { readonly kind: "preset" }> {
  const { preset, network: served, dapp } = options;
  const { network, confirmations } = command;
  const beacon = command.beacon ?? dapp.beacon ?? (served.beacon?.isDefault === true ? "drand" : "none");
  const { params, args } = parsePresetParams(preset, command.params, network);
  assertArgumentsFit(preset, args, MAX_ARGUMENT_BYTES - (beacon === "none" ? 0 : BEACON_BYTES));
  return {
    kind: "preset",
    params: {
      ...params,
      preset: preset.name,
      ...chooseBeacon(beacon, network, served),
      ...(confirmations === undefined ? {} : { confirmations }),
      ...labelsOf(command),
    },
    outcome: null,
    progress: {
      sourceHash: preset.sourceHash,
      args,
      returnType: preset.returnType,
      ...(preset.definition.show === undefined ? {} : { show: preset.definition.show }),
      ...spellingOf(command),
    },
  };
}

/** Checks the sizes of a caller's source and arguments. */
function checkFunctionCommand(
  command: FunctionCommand,
  options: {
    readonly network: Pick<ServiceNetwork, "beacon" | "localBeacon">;
    readonly secretsReference: Hex | undefined;
  },
): RequestContent {
  const { network: served, secretsReference } = options;
  const { source, args, secrets, returnType, beacon = "none", network } = command;
  const round = chooseBeacon(beacon, network, served);
  assertRequestFits(command, { secretsReference, ...round });
  return {
    kind: "function",
    params: {
      source,
      args,
      ...(secrets === undefined ? {} : { secrets }),
      returnType,
      ...round,
      ...labelsOf(command),
    },
    progress: {
      returnType,
      ...(secretsReference === undefined ? {} : { secretsReference }),
      ...spellingOf(command),
    },
    outcome: null,
  };
}

/** Checks before anything runs that a preset's arguments fit in a batch. */
function assertArgumentsFit(preset: Preset, args: readonly string[], most: number): void {
  const bytes = encodeArgs(args).length;
  if (bytes <= most) return;
  const lengths = args.map((arg) => Buffer.byteLength(arg));
  const longest = preset.parameterOrder[lengths.indexOf(Math.max(...lengths))];
  const message = `the preset's arguments take ${bytes} bytes as the function gets them, and at most ${most} fit one request; shorten ${longest ?? "them"} by ${bytes - most} bytes or more`;
  throw new InvalidParameterError([{ path: longest === undefined ? "" : `/${longest}`, message }]);
}

/** Returns the members of a command that say what the request is for. */
function labelsOf({ label, once }: Labelled): Labelled {
  return { ...(label === undefined ? {} : { label }), ...(once === undefined ? {} : { once }) };
}
