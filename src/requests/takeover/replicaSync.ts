import { createId } from "../../domain/id.ts";
import { repeat } from "../../lib/repeat.ts";
import type { Bus, BusMessage } from "../../store/bus.ts";
import { countOpenRequests, listOpenVersions, listVersions } from "../../store/requestLists.ts";
import { createStatements } from "../../store/statements.ts";
import type { Store } from "../../store/store.ts";
import type { OpenRequest } from "../openRequest.ts";
import type { Replica } from "../replica.ts";
import type { RequestBook } from "../requestBook.ts";
import type { RequestIntake } from "../serviceNetwork.ts";
import { isEnded } from "../../domain/vocabulary.ts";

/** Interval between reads of the tables, for changes whose notification was lost. */
const LOOK_INTERVAL_MS = 1_000;
/** How long the dispatching replica has to explain why a request isn't making progress. */
const ANSWER_TIMEOUT_MS = 2_000;

export interface ReplicaOptions {
  readonly id: string;
  readonly store: Store;
  readonly bus: Bus;
  readonly hasDatabase: () => boolean;
  readonly onError: (error: unknown) => void;
}

/** Creates one replica's view of the others. */
export function createReplica(options: ReplicaOptions): Replica {
  const { id: self, store, bus, hasDatabase, onError } = options;
  const held = new Set<string>();
  const pipelines = new Map<string, Pick<RequestIntake, "take" | "explain">>();
  const questions = new Map<string, (why: string | undefined) => void>();
  /** Open requests by network and dapp, as last counted. */
  let counts = new Map<string, Map<string, number>>();
  /** Versions of awaited requests, as last read. */
  let seen = new Map<string, number>();
  let book: RequestBook | undefined;
  let stopLooking = (): void => {};
  const looks = createStatements();

  /** Passes received requests that no transaction carries to their pipeline, which ignores those it already has. */
  const takeReceived = (network: string): void => {
    const pipeline = pipelines.get(network);
    if (pipeline === undefined) return;
    for (const request of book?.open(network) ?? [])
      if (request.state === "received" && request.progress.transactionHashes === undefined)
        pipeline.take(request);
  };

  const hear = async (message: BusMessage): Promise<void> => {
    switch (message.kind) {
      case "changed": {
        const { network, ids } = message;
        const awaited = new Set(book?.awaited());
        const wanted = held.has(network) ? ids : ids.filter((id) => awaited.has(id));
        if (wanted.length > 0) await book?.reread(wanted);
        return takeReceived(network);
      }
      case "why": {
        const { network, id, question } = message;
        const pipeline = pipelines.get(network);
        const request = book?.get(id);
        if (pipeline === undefined || request === undefined) return;
        return bus.tell({ kind: "because", question, why: await pipeline.explain(request) });
      }
      case "because":
        return questions.get(message.question)?.(message.why ?? undefined);
      case "free":
        return;
    }
  };

  const look = async (): Promise<void> => {
    const awaited = book?.awaited().filter((id) => book?.get(id) === undefined) ?? [];
    const versions = new Map(await listVersions(store.db, awaited));
    const changed = [...versions].flatMap(([id, version]) => (seen.get(id) === version ? [] : [id]));
    for (const network of held) {
      const open = await listOpenVersions(store.db, network);
      for (const [id, version] of open) if (book?.get(id)?.version !== version) changed.push(id);
    }
    if (changed.length > 0) await book?.reread(changed);
    seen = versions;
    for (const network of held) takeReceived(network);
    const counted = new Map<string, Map<string, number>>();
    for (const { network, dappId, count } of await countOpenRequests(store.db)) {
      const byDapp = counted.get(network) ?? new Map<string, number>();
      counted.set(network, byDapp.set(dappId, count));
    }
    counts = counted;
  };

  /** Counts a newly accepted request here until the next count includes it. */
  const countNew = ({ network, dappId, state, version }: OpenRequest): void => {
    if (version !== 1 || isEnded(state)) return;
    const byDapp = counts.get(network) ?? new Map<string, number>();
    counts.set(network, byDapp.set(dappId, (byDapp.get(dappId) ?? 0) + 1));
  };

  const stopListening = bus.listen((message) => void hear(message).catch(onError));

  return {
    id: self,
    bus,
    hasDatabase: () => hasDatabase() && !looks.isSlow(),
    sharing: {
      holds: (network) => held.has(network),
      onStored(requests) {
        requests.forEach(countNew);
        for (const [network, some] of Map.groupBy(requests, (request) => request.network))
          bus.tell({ kind: "changed", network, ids: some.map(({ id }) => id) });
      },
      openCount(network, dappId) {
        const byDapp = counts.get(network) ?? new Map<string, number>();
        if (dappId !== undefined) return byDapp.get(dappId) ?? 0;
        return [...byDapp.values()].reduce((sum, count) => sum + count, 0);
      },
    },
    start(its) {
      book = its;
      stopLooking = repeat(() => looks.run(look), LOOK_INTERVAL_MS, onError);
    },
    hold: (network) => void held.add(network),
    dispatch(network, pipeline) {
      pipelines.set(network, pipeline);
      takeReceived(network);
    },
    release(network) {
      pipelines.delete(network);
      held.delete(network);
      book?.release(network);
    },
    async askWhy(network, id) {
      const question = createId("que");
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const timer = setTimeout(() => resolve(undefined), ANSWER_TIMEOUT_MS);
      questions.set(question, resolve);
      bus.tell({ kind: "why", network, id, question });
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        questions.delete(question);
      }
    },
    async close() {
      stopLooking();
      stopListening();
      await bus.close();
    },
  };
}
