import type { NetworkView } from "../../api/types.ts";
import { isAddressEqual } from "viem";
import type { Hex } from "viem";
import { MAX_CONSUMERS } from "../../chainlink/limits.ts";
import { sandboxGroup } from "../../chainlink/sandboxGroup.ts";
import { InvalidParameterError } from "../../lib/invalidParameter.ts";
import { parsePresetParams } from "../../presets/presetParams.ts";
import type { PresetRegistry } from "../../presets/presetRegistry.ts";
import type { SandboxPool } from "../../../sandbox/index.ts";
import type { ConsumerLists } from "../../dapps/subscriptionReads.ts";
import { findConsumer } from "../../store/chainRecords.ts";
import type { Store } from "../../store/store.ts";
import {
  checkFunctionCommand,
  checkPresetCommand,
  dryRunFunction,
  dryRunPreset,
  labelsOf,
} from "./commands.ts";
import type { CheckedCommand } from "./commands.ts";
import { ForbiddenError, NotFoundError, TooManyConsumersError } from "../errors.ts";
import type { Command, ConsumerCommand, Dapp, RandomCommand, UnlinkCommand } from "../service.ts";
import type { LinkOutcome } from "../openRequest.ts";
import { findSecrets, type SecretsReader } from "../secrets.ts";
import { getPipeline } from "../serviceNetwork.ts";
import type { ServiceNetwork } from "../serviceNetwork.ts";

/** Checks whether a command can be carried out, before it is accepted. */
export interface CommandChecker {
  /** Checks what depends on the dapp, the chain and sizes. Throws the error that the caller sees. */
  check(dapp: Dapp, command: Command, network: ServiceNetwork): Promise<CheckedCommand>;
  /**
   * Dry-runs the source of a checked preset or function, and ensures that a preset's source is stored on chain. Throws
   * likewise. `signal` cancels the run of a function. Returns what the caller should know about the source.
   */
  dryRun(
    dapp: Pick<Dapp, "id">,
    command: Command,
    network: ServiceNetwork,
    signal?: AbortSignal,
  ): Promise<readonly string[]>;
}

/** Creates the checker. */
export function createCommandChecker(options: {
  readonly store: Store;
  readonly pool: SandboxPool;
  readonly registry: PresetRegistry;
  readonly secrets: SecretsReader;
}): CommandChecker {
  const { store, pool, registry, secrets } = options;
  /** Reads the consumers of a dapp from the chain; both lists are empty until its subscriptions exist. */
  const readConsumers = async (dapp: Dapp, network: ServiceNetwork): Promise<ConsumerLists> => {
    const { subscriptions } = getPipeline(network);
    const subscription = subscriptions.find(dapp.id);
    return subscription === undefined
      ? { vrf: [], functions: [] }
      : await subscriptions.readConsumers(subscription);
  };

  /** Returns the outcome of an earlier linking that still holds on chain and needs no second transaction; otherwise `null`. */
  const checkConsumer = async (
    dapp: Dapp,
    command: ConsumerCommand,
    network: ServiceNetwork,
  ): Promise<LinkOutcome | null> => {
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
      throw new TooManyConsumersError(MAX_CONSUMERS - 1);
    return null;
  };

  const checkUnlink = async (dapp: Dapp, command: UnlinkCommand, network: ServiceNetwork): Promise<void> => {
    const { contracts } = network.view();
    if (isAddressEqual(command.consumer, contracts.presetConsumer)) {
      const message = `${command.consumer} is the service's own consumer, through which the dapp's presets run; it stays`;
      throw new InvalidParameterError([{ path: "/consumer", message }]);
    }
    const { vrf, functions } = await readConsumers(dapp, network);
    if (!vrf.includes(command.consumer) && !functions.includes(command.consumer))
      throw new NotFoundError(`consumer ${command.consumer} of this dapp on ${command.network}`);
  };

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
          const outcome = await checkConsumer(dapp, command, network);
          const params = { dappId: command.dappId, consumer: command.consumer };
          return { kind: "consumer", params, progress: {}, outcome };
        }
        case "unlink":
          await checkUnlink(dapp, command, network);
          return { kind: "unlink", params: { consumer: command.consumer }, progress: {}, outcome: null };
      }
    },
    async dryRun(dapp, command, network, signal) {
      if (command.kind !== "preset" && command.kind !== "function") return [];
      const pipeline = getPipeline(network);
      const subscription = pipeline.subscriptions.find(dapp.id);
      const group =
        subscription &&
        sandboxGroup(network.view().contracts.functionsRouter, subscription.functionsSubscriptionId);
      const checks = { pool, dappId: dapp.id, maxResponseBytes: network.maxResponseBytes, group };
      if (command.kind === "function") {
        if (command.secrets !== undefined && !secrets.canRun(network)) return [NOT_RUN];
        const runWithSecrets = await findSecrets(secrets, dapp.id, network, command.secrets);
        return await dryRunFunction(command, { ...checks, signal, runWithSecrets });
      }
      const preset = registry.get(command.preset);
      await dryRunPreset(preset, parsePresetParams(preset, command.params).args, checks);
      await pipeline.storeSource(preset);
      return [];
    },
  };
}

const NOT_RUN =
  "the source was not run before it was sent: this network's nodes open secrets only for requests on chain; simulate with secretValues is a dry run";

/** @throws {ForbiddenError} when the dapp may not use the facility. */
export function requireFacility(dapp: Dapp, facility: Dapp["facilities"][number]): void {
  if (!dapp.facilities.includes(facility)) throw new ForbiddenError(facility);
}

function checkRandom(command: RandomCommand, { vrf }: NetworkView): CheckedCommand {
  const confirmations = command.confirmations ?? vrf.minConfirmations;
  const [keyHash = command.keyHash ?? vrf.keyHashes[0]!, ...others] = command.keyHashes ?? [];
  const { numWords } = command;
  const joined = others.length === 0 ? {} : { keyHashes: [keyHash, ...others] };
  const params = { numWords, confirmations, keyHash, ...joined, ...labelsOf(command) };
  return { kind: "random", params, progress: {}, outcome: null };
}
