import type { Logger } from "pino";
import type { DappDirectory } from "../../dapps/dapps.ts";
import type { LiveSchemas } from "../../http/liveSchemas.ts";
import { checkTriggerCommand, parseTriggerAction } from "../../http/triggerAction.ts";
import type { Service } from "../../requests/service.ts";
import type { Replica } from "../../requests/replica.ts";
import type { Store } from "../../store/store.ts";
import type { CheckCommand, ParseAction } from "../../triggers/eventReferences.ts";
import { createLogTriggers, type LogTriggers } from "../../triggers/logTriggers.ts";
import { startLogWatch } from "../../triggers/logWatch.ts";
import type { ObservedChain } from "../../triggers/observedChain.ts";
import { onOneReplica, type WithSharedWork } from "./oneReplica.ts";
import { startScheduler } from "../../triggers/scheduler.ts";
import { createSchedules, type Schedules } from "../../triggers/schedules.ts";

interface TriggerOptions {
  readonly store: Store;
  readonly service: Service;
  readonly checks: ActionChecks;
  readonly dapps: Pick<DappDirectory, "findActing">;
  /** Called when an event is stored. */
  readonly onEvent: () => void;
  readonly replica: Pick<Replica, "id" | "bus"> | undefined;
  readonly log: Logger;
}

/** Log triggers, and what reads and acts on logs. */
export type OpenLogTriggers = WithSharedWork<LogTriggers>;

/** Opens the log triggers of all dapps. */
export function openLogTriggers(
  options: TriggerOptions & {
    /** Returns a network's chain while it serves. */
    readonly findChain: (network: string) => ObservedChain | undefined;
  },
): OpenLogTriggers {
  const { store, service, checks, dapps, findChain, onEvent, replica, log } = options;
  const onError = (error: unknown): void => log.warn({ err: error }, "log triggers: a step failed; retrying");
  const { parseAction, checkCommand } = checks;
  const watched = {
    submit: service.submit.bind(service),
    findActing: dapps.findActing.bind(dapps),
    onEvent,
    parseAction,
    findChain,
    onError,
  };
  const watch = onOneReplica((fenced) => startLogWatch({ ...watched, store: fenced }), {
    store,
    lease: "/triggers",
    replica,
    onError,
  });
  const useCases = createLogTriggers({
    store,
    parseAction,
    checkCommand,
    findChain,
    wake: () => watch.wake(),
  });
  return { useCases, ...watch };
}

/** Checks of what triggers are to request. */
interface ActionChecks {
  readonly parseAction: ParseAction;
  readonly checkCommand: CheckCommand;
}

/** Creates the checks of schedules and log triggers: those of the endpoints that request the same. */
export function createActionChecks(service: Service, schemas: () => LiveSchemas): ActionChecks {
  return {
    parseAction: (action, network) => parseTriggerAction(action, network, { service, schemas }),
    checkCommand: (dapp, command) => checkTriggerCommand(dapp, command, service),
  };
}

/** Schedules, and what acts on them. */
export type OpenSchedules = WithSharedWork<Schedules>;

/** Opens the schedules of all dapps. */
export function openSchedules(
  options: TriggerOptions & {
    /** Returns the time between a network's blocks, in ms; `undefined` on an embedded chain. */
    readonly blockMsOf: (network: string) => number | undefined;
  },
): OpenSchedules {
  const { store, service, checks, dapps, blockMsOf, onEvent, replica, log } = options;
  const onError = (error: unknown): void => log.warn({ err: error }, "schedules: acting failed; retrying");
  const act = {
    store,
    submit: service.submit.bind(service),
    findActing: dapps.findActing.bind(dapps),
    onEvent,
  };
  const scheduler = onOneReplica((fenced) => startScheduler({ ...act, store: fenced, onError }), {
    store,
    lease: "/schedules",
    replica,
    onError,
  });
  const useCases = createSchedules({
    ...act,
    ...checks,
    blockMsOf,
    wake: () => scheduler.wake(),
  });
  return { useCases, ...scheduler };
}
