import type { Logger } from "pino";
import type { DappDirectory } from "../../dapps/dapps.ts";
import type { Service } from "../../requests/service.ts";
import type { Replica } from "../../requests/takeover/replicaSync.ts";
import type { Store } from "../../store/store.ts";
import { createScheduler } from "../../triggers/scheduler.ts";
import { createSchedules, type Schedules } from "../../triggers/schedules.ts";
import { onOneReplica } from "./oneReplica.ts";

/** Schedules, and what acts on them. */
export interface OpenSchedules {
  readonly useCases: Schedules;
  /** Begins to act; where several replicas serve, once this one gets the lease. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the schedules of all dapps. */
export function openSchedules(options: {
  readonly store: Store;
  readonly service: Pick<Service, "submit" | "networks">;
  readonly dapps: Pick<DappDirectory, "findActing">;
  /** Called when an event is stored. */
  readonly onEvent: () => void;
  readonly replica: Pick<Replica, "id" | "bus"> | undefined;
  readonly log: Logger;
}): OpenSchedules {
  const { store, service, dapps, onEvent, replica, log } = options;
  const onError = (error: unknown): void => log.warn({ err: error }, "schedules: acting failed; retrying");
  const act = {
    store,
    submit: service.submit.bind(service),
    findActing: dapps.findActing.bind(dapps),
    onEvent,
  };
  const scheduler = createScheduler({ ...act, onError });
  const useCases = createSchedules({
    ...act,
    isEmbedded: (name) => service.networks().some((one) => one.name === name && one.embedded),
    wake: () => scheduler.wake(),
  });
  return { useCases, ...onOneReplica(scheduler, { store, lease: "/schedules", replica, onError }) };
}
