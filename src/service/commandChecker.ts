import type { Hex } from "viem";
import { MAX_CONSUMERS } from "../chain/networks.ts";
import { sandboxGroup } from "../chain/sandboxGroup.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import type { PresetRegistry } from "../presets/presetRegistry.ts";
import type { SandboxPool } from "../../sandbox/index.ts";
import { listConsumers } from "../store/chainRecords.ts";
import type { Store } from "../store/store.ts";
import { checkFunctionCommand, checkPresetCommand } from "./commands.ts";
import type { CheckedCommand } from "./commands.ts";
import { ForbiddenError, NotFoundError, TooManyConsumersError } from "./errors.ts";
import type { Command, ConsumerCommand, Dapp, RandomCommand } from "./service.ts";
import { getDesk } from "./serviceNetwork.ts";
import type { ServiceNetwork } from "./serviceNetwork.ts";
import { createSourcePrefix } from "./sources.ts";
import type { SourcePrefix } from "./sources.ts";
import type { NetworkView } from "./views.ts";

/** Finds out whether a command can be carried out, before it is accepted. */
export interface CommandChecker {
  /**
   * Checks what only the dapp, the chain or a dry run can tell, and has a preset's source stored on the chain.
   * Throws the error that the caller is to see.
   */
  check(dapp: Dapp, command: Command, network: ServiceNetwork): Promise<CheckedCommand>;
}

/** Makes the checker. */
export function createCommandChecker(options: {
  readonly store: Store;
  readonly pool: SandboxPool;
  readonly registry: PresetRegistry;
}): CommandChecker {
  const { store, pool, registry } = options;
  const prefixes = new Map<Hex, SourcePrefix>();

  const prefixOf = (source: string, hash: Hex): SourcePrefix => {
    let prefix = prefixes.get(hash);
    if (prefix === undefined) prefixes.set(hash, (prefix = createSourcePrefix(source)));
    return prefix;
  };

  const checkConsumer = async (
    dapp: Dapp,
    command: ConsumerCommand,
    network: ServiceNetwork,
  ): Promise<void> => {
    if (command.dappId !== dapp.id) throw new NotFoundError(`dapp ${command.dappId}`);
    if ((await network.getCode(command.consumer)) === "0x") {
      const message = `there is no contract at ${command.consumer} on ${command.network}; deploy it there first`;
      throw new InvalidParameterError([{ path: "/consumer", message }]);
    }
    const linked = await listConsumers(store.db, dapp.id, command.network);
    // One place is taken by the service's own contract.
    if (linked.length >= MAX_CONSUMERS - 1 && !linked.some((one) => one.address === command.consumer)) {
      throw new TooManyConsumersError(MAX_CONSUMERS);
    }
  };

  return {
    async check(dapp, command, network) {
      const subscription = getDesk(network).subscriptions.find(dapp.id);
      const group =
        subscription &&
        sandboxGroup(network.view().contracts.functionsRouter, subscription.functionsSubscriptionId);
      const checks = { pool, dappId: dapp.id, maxResponseBytes: network.maxResponseBytes, group };
      switch (command.kind) {
        case "preset": {
          requireFacility(dapp, "presets");
          const preset = registry.get(command.preset);
          const prefix = prefixOf(preset.source, preset.sourceHash);
          const checked = await checkPresetCommand(command, preset, prefix, checks);
          await getDesk(network).shelve(prefix);
          return checked;
        }
        case "function":
          requireFacility(dapp, "functions");
          return await checkFunctionCommand(command, checks);
        case "random":
          requireFacility(dapp, "presets");
          return checkRandom(command, network.view());
        case "consumer":
          await checkConsumer(dapp, command, network);
          return { params: { dappId: command.dappId, consumer: command.consumer }, progress: {} };
      }
    },
  };
}

/** @throws {ForbiddenError} when the dapp may not use the facility. */
export function requireFacility(dapp: Dapp, facility: Dapp["facilities"][number]): void {
  if (!dapp.facilities.includes(facility)) throw new ForbiddenError(facility);
}

function checkRandom(command: RandomCommand, { vrf }: NetworkView): CheckedCommand {
  const confirmations = command.confirmations ?? vrf.minConfirmations;
  const keyHash = command.keyHash ?? vrf.keyHashes[0]!;
  return { params: { numWords: command.numWords, confirmations, keyHash }, progress: {} };
}
