import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Checked } from "../../src/api/parameters/requestSchemas.ts";
import type { LogRun } from "../../src/api/types.ts";
import type { Dapp } from "../../src/dapps/dapp.ts";
import type { ChainClient } from "../../src/evm/client.ts";
import { RpcError } from "../../src/lib/nodeAnswers.ts";
import { TycheError } from "../../src/lib/errors.ts";
import type { WakeLoop } from "../../src/lib/wakeLoop.ts";
import { createId } from "../../src/domain/id.ts";
import type { WebhookEvent } from "../../src/domain/vocabulary.ts";
import type { Service } from "../../src/requests/service.ts";
import { insertDapp } from "../../src/store/dapps.ts";
import { insertRequests } from "../../src/store/requests.ts";
import type { Store } from "../../src/store/store.ts";
import { insertWebhook } from "../../src/store/webhooks.ts";
import type { ParseAction } from "../../src/triggers/eventReferences.ts";
import { createLogTriggers, type LogTriggers } from "../../src/triggers/logTriggers.ts";
import { startLogWatch } from "../../src/triggers/logWatch.ts";
import type { ObservedChain } from "../../src/triggers/observedChain.ts";
import { startTestChain, testAccount, type TestChain } from "../support/anvil.ts";
import { DATABASES, useStore } from "../support/databases.ts";
import { makeStoredRequest } from "../support/storedRequest.ts";
import { CLOSED, deployEmitter, encodeClose } from "./emitter.ts";

const DAPP: Dapp = { id: "dapp_a", name: "a", keyId: "key_a", facilities: ["presets"] };
const byMax = (...both: unknown[]): number => {
  const [a, b] = both as { readonly max: string }[];
  return Number(a!.max) - Number(b!.max);
};

/** Takes actions as they are. */
const parseAction: ParseAction = (action, network) => ({
  kind: "preset",
  network,
  preset: "range",
  params: action,
});

const checkCommand = async (): Promise<void> => {};

describe.each(DATABASES)("on %s", (_name, prepare) => {
  let store: Store;
  let chain: TestChain;
  let emitter: Hex;
  let observed: ObservedChain | undefined;
  let watch: WakeLoop;
  let triggers: LogTriggers;
  /** What was submitted, in order. */
  let submitted: { readonly key: string; readonly params: unknown; readonly network: string }[];
  let refusal: TycheError | undefined;
  /** Start of the keys of what is refused. */
  let refused: string;
  useStore(prepare, (its) => {
    store = its;
  });

  const submit: Service["submit"] = async (dapp, command, { idempotencyKey }) => {
    if (refusal !== undefined && idempotencyKey!.startsWith(refused)) throw refusal;
    const { params } = command as { readonly params?: unknown };
    submitted.push({ key: idempotencyKey!, params, network: command.network });
    const id = createId("req");
    const request = { ...makeStoredRequest("1", { dappId: dapp.id }), id, idempotencyKey: idempotencyKey! };
    await insertRequests(store.db, [request]);
    return { id } as Awaited<ReturnType<Service["submit"]>>;
  };
  const start = (): WakeLoop => {
    const options = { store, submit, findActing: async () => DAPP, onEvent() {}, onError() {} };
    return startLogWatch({ ...options, parseAction, findChain: () => observed });
  };
  const observe = (changes: Partial<ObservedChain> = {}): ObservedChain => ({
    client: chain.client,
    chainId: chain.chainId,
    identity: "test",
    isEmbedded: false,
    terms: { finalityDepth: 3, hasFinalizedTag: false, pollIntervalMs: 20, rolledBackAfterMs: 0 },
    explorerUrl: "https://example.com",
    ...changes,
  });
  const create = (changes: Partial<Checked<"createTrigger">> = {}) =>
    triggers.create(DAPP, {
      name: "closed",
      network: "sepolia",
      addresses: [emitter],
      event: CLOSED,
      confidence: "latest",
      paused: false,
      action: { max: { event: "players" }, list: [{ event: "round" }, "x"] },
      ...changes,
    });
  const emit = (round: number, players: number, count = 1) =>
    chain.send(testAccount(0), { to: emitter, data: encodeClose(round, players, count) });
  const mine = (blocks: number) => chain.client.request("anvil_mine", [`0x${blocks.toString(16)}`]);
  const runsOf = async (id: string): Promise<readonly LogRun[]> => {
    const items: LogRun[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await triggers.runs(DAPP.id, id, {
        limit: 100,
        ...(cursor === undefined ? {} : { cursor }),
      });
      items.push(...page.items);
      if (page.nextCursor === null)
        return items.toSorted(
          ({ log: a }, { log: b }) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
        );
      cursor = page.nextCursor;
    }
  };
  const requested = async (id: string, count: number): Promise<readonly LogRun[]> =>
    await vi.waitFor(async () => {
      const runs = (await runsOf(id)).filter(({ state }) => state === "requested");
      expect(runs).toHaveLength(count);
      return runs;
    });
  const isRead = async (id: string): Promise<void> => {
    const head = Number((await chain.client.getHead("latest"))!.number);
    await vi.waitFor(async () => expect((await triggers.get(DAPP.id, id)).readTo).toBe(head));
  };

  beforeEach(async () => {
    chain = await startTestChain();
    emitter = await deployEmitter(chain, testAccount(0));
    observed = observe();
    submitted = [];
    refusal = undefined;
    refused = "";
    await insertDapp(store.db, { id: DAPP.id, name: "a", facilities: [], createdAt: 1 });
    watch = start();
    triggers = createLogTriggers({
      store,
      parseAction,
      checkCommand,
      findChain: () => observed,
      wake: () => watch.wake(),
    });
  });
  afterEach(async () => {
    await watch.stop();
    await chain.close();
  });

  test("requests each log once, with its values, and only those whose arguments match", async () => {
    const all = await create();
    const some = await create({ filters: { round: [7, "8"] }, actionNetwork: "polygon" });
    const receipt = await emit(7, 70, 2);
    await emit(9, 90);
    const runs = await requested(all.id, 3);
    expect(await requested(some.id, 2)).toHaveLength(2);
    const onSepolia = submitted.filter(({ network }) => network === "sepolia");
    expect(onSepolia.map(({ params }) => params).toSorted(byMax)).toEqual([
      { max: "70", list: ["7", "x"] },
      { max: "71", list: ["7", "x"] },
      { max: "90", list: ["9", "x"] },
    ]);
    const { transactionHash, blockHash, blockNumber } = receipt;
    expect(submitted.map(({ key }) => key)).toContain(
      `${all.id} ${chain.chainId} ${transactionHash} 1 ${blockHash}`,
    );
    expect(runs[1]).toMatchObject({
      log: {
        transactionHash,
        blockHash,
        blockNumber: Number(blockNumber),
        logIndex: 1,
        values: { round: "7", players: "71", $logIndex: "1" },
        url: `https://example.com/tx/${transactionHash}`,
      },
      revertedAt: null,
    });
    expect(submitted).toHaveLength(5);
  });

  test("reads each block once for all triggers", async () => {
    let reads = 0;
    const client: ChainClient = {
      ...chain.client,
      async getLogs(filter) {
        reads += 1;
        return await chain.client.getLogs(filter);
      },
    };
    observed = observe({ client });
    const views = await Promise.all(Array.from({ length: 100 }, () => create({ paused: true })));
    for (const { id } of views) await triggers.change(DAPP, id, { paused: false });
    await emit(1, 1);
    for (const { id } of views) await isRead(id);
    const before = reads;
    for (let i = 0; i < 5; i += 1) {
      await mine(1);
      await isRead(views[0]!.id);
    }
    expect(reads - before).toBe(5);
  });

  test("waits until a block is as certain as the trigger wants, and forgets logs that a reorg removes before", async () => {
    const { id } = await create({ confidence: "safe" });
    await emit(1, 10);
    const [seen] = await vi.waitFor(async () => {
      const runs = await runsOf(id);
      expect(runs).toHaveLength(1);
      return runs;
    });
    expect(seen).toMatchObject({ state: "seen", detail: `block ${seen!.log.blockNumber} is not safe yet` });
    await chain.client.request("anvil_reorg", [1, []]);
    await vi.waitFor(async () => expect(await runsOf(id)).toEqual([]));
    await emit(2, 20);
    await mine(3);
    const [run] = await requested(id, 1);
    expect(run!.log.values).toMatchObject({ round: "2" });
    expect(submitted).toHaveLength(1);
  });

  test.each([
    ["safe", 32],
    ["finalized", 64],
  ] as const)(
    "acts on a log once the node calls its block %s, and not on a newer one",
    async (confidence, depth) => {
      observed = observe({ terms: { ...observe().terms, hasFinalizedTag: true } });
      const { id } = await create({ confidence });
      const older = await emit(1, 10);
      await emit(2, 20);
      await mine(depth - 1);
      expect((await chain.client.getHead(confidence))!.number).toBe(older.blockNumber);
      // The older log may be due before the newer one is read.
      await isRead(id);
      await requested(id, 1);
      const [first, second] = await runsOf(id);
      expect(first!.log.values).toMatchObject({ round: "1" });
      const detail = `block ${second!.log.blockNumber} is not ${confidence} yet`;
      expect(second).toMatchObject({ state: "seen", detail });
      await mine(1);
      await requested(id, 2);
    },
  );

  /** Stores a webhook for events of a type; returns what reads those that it is sent. */
  const listen = async (type: WebhookEvent) => {
    await insertWebhook(store.db, {
      id: "wh_1",
      dappId: DAPP.id,
      url: "https://example.com/",
      description: "",
      events: [type],
      scheme: "v1",
      secret: new Uint8Array(1),
      previous: null,
      createdAt: 1,
      paused: null,
      failingSince: null,
      lastSuccessAt: null,
    });
    return async () => {
      const events = await store.db.selectFrom("webhook_events").select("body").execute();
      return events.map(({ body }) => JSON.parse(body));
    };
  };

  test("reports a log that a reorg removed after its request, and acts on the one that replaces it", async () => {
    const readEvents = await listen("trigger.reverted");
    const { id } = await create();
    const kept = await emit(1, 10);
    const lost = await emit(2, 20);
    const [, second] = await requested(id, 2);
    await chain.client.request("anvil_reorg", [1, []]);
    const again = await emit(3, 30);
    const runs = await requested(id, 3);
    expect(again.blockNumber).toBeGreaterThan(kept.blockNumber);
    expect(runs.map(({ revertedAt }) => revertedAt !== null)).toEqual([false, true, false]);
    expect(submitted).toHaveLength(3);
    const events = await readEvents();
    expect(events.map(({ type }) => type)).toEqual(["trigger.reverted"]);
    expect(events[0].data).toEqual({
      triggerId: id,
      name: "closed",
      runId: second!.id,
      requestId: second!.requestId,
      network: "sepolia",
      blockNumber: Number(lost.blockNumber),
      blockHash: lost.blockHash,
      transactionHash: lost.transactionHash,
      logIndex: 0,
    });
  });

  test("requests a log that one reorg removes and the next one brings back", async () => {
    const { id } = await create();
    refusal = new TycheError("the requests of the day are used up", {
      code: "rate_limited",
      blame: "caller",
    });
    const at = Number((await chain.client.getHead("latest"))!.timestamp) + 100;
    const emitInSameBlock = async (): Promise<Hex> => {
      await chain.client.request("evm_setNextBlockTimestamp", [at]);
      return (await emit(1, 10)).blockHash;
    };
    const before = await chain.client.request("evm_snapshot", []);
    const block = await emitInSameBlock();
    await vi.waitFor(async () => expect(await runsOf(id)).toHaveLength(1));
    await chain.client.request("evm_revert", [before]);
    const without = await chain.client.request("evm_snapshot", []);
    await mine(1);
    await vi.waitFor(async () => expect(await runsOf(id)).toMatchObject([{ reason: "reverted" }]));
    await chain.client.request("evm_revert", [without]);
    refusal = undefined;
    expect(await emitInSameBlock()).toBe(block);
    expect(await requested(id, 1)).toMatchObject([{ revertedAt: null }]);
  });

  test("notices after a restart that a reorg removed logs meanwhile", async () => {
    const { id } = await create();
    await emit(1, 10);
    await emit(2, 20);
    await requested(id, 2);
    await watch.stop();
    await chain.client.request("anvil_reorg", [1, []]);
    await emit(3, 30);
    watch = start();
    const runs = await requested(id, 3);
    expect(runs.map(({ revertedAt }) => revertedAt !== null)).toEqual([false, true, false]);
  });

  test("catches up with an outage in ranges that the node accepts", async () => {
    const { id } = await create();
    await emit(0, 0);
    await requested(id, 1);
    await watch.stop();
    for (let round = 1; round <= 10; round += 1) {
      await emit(round, round);
      for (let i = 0; i < 4; i += 1) await mine(50);
    }
    const ranges: bigint[] = [];
    const client: ChainClient = {
      ...chain.client,
      async getLogs(filter) {
        if ("fromBlock" in filter) {
          const blocks = filter.toBlock - filter.fromBlock + 1n;
          if (blocks > 500n)
            throw new RpcError("eth_getLogs", "exceeds maximum block range: 500", { answered: true });
          ranges.push(blocks);
        }
        return await chain.client.getLogs(filter);
      },
    };
    observed = observe({ client });
    watch = start();
    const runs = await requested(id, 11);
    expect(runs.map(({ log }) => Number(log.values["round"]))).toEqual(
      Array.from({ length: 11 }, (_, i) => i),
    );
    expect(submitted).toHaveLength(11);
    expect(ranges.length).toBeGreaterThan(3);
    await isRead(id);
  });

  test("replays from an earlier block once, beside triggers that are ahead", async () => {
    const first = await create();
    await emit(1, 10, 3);
    await mine(30);
    await requested(first.id, 3);
    await isRead(first.id);
    const late = await create({ fromBlock: 0 });
    await emit(2, 20);
    expect((await requested(late.id, 4)).map(({ log }) => log.values["players"])).toEqual([
      "10",
      "11",
      "12",
      "20",
    ]);
    await requested(first.id, 4);
    await isRead(late.id);
    await watch.stop();
    watch = start();
    await emit(3, 30);
    await requested(late.id, 5);
    await requested(first.id, 5);
    expect(submitted).toHaveLength(10);
  });

  test.each([false, true])(
    "reads nothing of the time without triggers for a new one, unless a reorg removed logs: %s",
    async (isReorged) => {
      const first = await create();
      await emit(1, 10);
      await emit(2, 20);
      await requested(first.id, 2);
      await triggers.change(DAPP, first.id, { paused: true });
      await watch.stop();
      if (isReorged) await chain.client.request("anvil_reorg", [1, []]);
      for (let i = 0; i < 5; i += 1) await emit(3, 30);
      const read: (bigint | string)[] = [];
      const client: ChainClient = {
        ...chain.client,
        async getLogs(filter) {
          read.push("fromBlock" in filter ? filter.fromBlock : filter.blockHash);
          return await chain.client.getLogs(filter);
        },
      };
      observed = observe({ client });
      watch = start();
      const second = await create();
      const { blockHash } = await emit(4, 40);
      await requested(second.id, 1);
      await vi.waitFor(async () => {
        const runs = await runsOf(first.id);
        expect(runs.map(({ revertedAt }) => revertedAt !== null)).toEqual([false, isReorged]);
      });
      const early = read.filter((at) =>
        typeof at === "bigint" ? at < BigInt(second.fromBlock) : at !== blockHash,
      );
      expect(early.length > 0).toBe(isReorged);
      expect(submitted).toHaveLength(3);
    },
  );

  test("keeps runs waiting at the daily limit and while it is paused, and says so", async () => {
    const { id } = await create();
    refusal = new TycheError("the requests of the day are used up", {
      code: "rate_limited",
      blame: "caller",
    });
    await emit(1, 10, 2);
    await vi.waitFor(async () => {
      const runs = await runsOf(id);
      expect(runs.map(({ state, detail }) => [state, detail])).toEqual([
        ["due", refusal!.message],
        [
          "due",
          `1 of the dapp's runs on sepolia is before it; its trigger's first run waits: ${refusal!.message}`,
        ],
      ]);
    });
    await triggers.change(DAPP, id, { paused: true });
    await emit(2, 20);
    expect((await runsOf(id)).at(-1)!.detail).toBe("the trigger is paused");
    refusal = undefined;
    await triggers.change(DAPP, id, { paused: false });
    await emit(3, 30);
    const runs = await requested(id, 3);
    expect(runs.map(({ log }) => log.values["players"])).toEqual(["10", "11", "30"]);
  });

  test("requests the runs of other triggers while one must wait", async () => {
    const limited = await create();
    const free = await create();
    refused = limited.id;
    refusal = new TycheError("the key's requests of the day are used up", {
      code: "rate_limited",
      blame: "caller",
    });
    await emit(1, 10, 3);
    await requested(free.id, 3);
    await emit(2, 20);
    await requested(free.id, 4);
    expect((await runsOf(limited.id)).map(({ state }) => state)).toEqual(["due", "due", "due", "due"]);
  });

  test("makes no run of a trigger that another replica has just paused or deleted", async () => {
    const [paused, deleted, kept] = [await create(), await create(), await create()];
    await emit(1, 10);
    await requested(kept.id, 1);
    const elsewhere = createLogTriggers({
      store,
      parseAction,
      checkCommand,
      findChain: () => observed,
      wake() {},
    });
    await elsewhere.change(DAPP, paused.id, { paused: true });
    await elsewhere.delete(DAPP.id, deleted.id);
    await emit(2, 20);
    await requested(kept.id, 2);
    const runs = await store.db.selectFrom("trigger_runs").select("trigger_id").execute();
    expect(runs.map((run) => run.trigger_id).toSorted()).toEqual([paused.id, kept.id, kept.id].toSorted());
  });

  test("lets 10,000 runs of a dapp wait, and skips further logs in one run of each trigger", async () => {
    refusal = new TycheError("the requests of the day are used up", {
      code: "rate_limited",
      blame: "caller",
    });
    const all = [await create(), await create(), await create()];
    await emit(1, 0, 4_000);
    const count = async (trigger: number): Promise<Record<string, number>> => {
      const rows = await store.db
        .selectFrom("trigger_runs")
        .select((on) => ["state", on.fn.countAll<number | string>().as("count")])
        .where("trigger_id", "=", all[trigger]!.id)
        .groupBy("state")
        .execute();
      return Object.fromEntries(rows.map((row) => [row.state, Number(row.count)]));
    };
    await isRead(all[2]!.id);
    expect([await count(0), await count(1), await count(2)]).toEqual([
      { due: 4_000 },
      { due: 4_000 },
      { due: 2_000, skipped: 1 },
    ]);
    const [last] = (await triggers.runs(DAPP.id, all[2]!.id, { limit: 1 })).items;
    expect(last).toMatchObject({ state: "skipped", reason: "limit", log: { logIndex: 2_000, values: {} } });
    await emit(2, 0, 10);
    await isRead(all[2]!.id);
    expect([await count(0), await count(2)]).toEqual([
      { due: 4_000, skipped: 1 },
      { due: 2_000, skipped: 1 },
    ]);
    await triggers.change(DAPP, all[0]!.id, { paused: true });
    await emit(3, 0, 10);
    await isRead(all[2]!.id);
    expect([await count(0), await count(2)]).toEqual([
      { due: 4_000, skipped: 1 },
      { due: 2_010, skipped: 1 },
    ]);
    await chain.client.request("anvil_reorg", [3, []]);
    const kept = store.db.selectFrom("run_logs").select("run_id").where("reverted_at", "is", null);
    await vi.waitFor(async () => expect(await kept.execute()).toEqual([]));
  });

  test("reads 16 MB of a block's data for a dapp, and skips further logs in one run of each trigger", async () => {
    // Logs 320,000 zeros ten times when it is called.
    const code: Hex = "0x600a5b60006204e2006000a16001900380600257";
    const deployed = await chain.send(testAccount(0), { data: `0x6014600c60003960146000f3${code.slice(2)}` });
    const { contractAddress } = await chain.viem.getTransactionReceipt({ hash: deployed.transactionHash });
    const wanted = { addresses: [contractAddress!], topics: [null] };
    const make = (name: string) =>
      triggers.create(DAPP, {
        ...wanted,
        name,
        network: "sepolia",
        confidence: "latest",
        action: { max: 1 },
        paused: false,
      });
    const all = [await make("a"), await make("b"), await make("c")];
    await chain.send(testAccount(0), { to: contractAddress!, data: "0x", gas: 29_000_000n });
    await isRead(all[2]!.id);
    const runs = await Promise.all(all.map(({ id }) => runsOf(id)));
    expect(runs.map(({ length }) => length)).toEqual([10, 10, 7]);
    expect(runs[2]!.at(-1)).toMatchObject({ state: "skipped", reason: "limit", log: { logIndex: 6 } });
  });

  test("skips what is refused, and tells nothing of another dapp's triggers", async () => {
    const { id } = await create({ action: { max: { event: "players" } } });
    refusal = new TycheError("max must be above min", { code: "invalid_parameter", blame: "caller" });
    const readEvents = await listen("trigger.skipped");
    const emitted = await emit(1, 0);
    await vi.waitFor(async () =>
      expect((await runsOf(id))[0]).toMatchObject({ state: "skipped", reason: "refused" }),
    );
    const [run] = await runsOf(id);
    expect((await readEvents()).map(({ data }) => data)).toEqual([
      {
        triggerId: id,
        name: "closed",
        runId: run!.id,
        network: "sepolia",
        reason: "refused",
        detail: "max must be above min",
        count: 1,
        from: run!.at,
        to: run!.at,
        blockNumber: Number(emitted.blockNumber),
        blockHash: emitted.blockHash,
        transactionHash: emitted.transactionHash,
        logIndex: 0,
      },
    ]);
    const other = { ...DAPP, id: "dapp_b" };
    const refused = { code: "not_found" };
    await expect(triggers.get(other.id, id)).rejects.toMatchObject(refused);
    await expect(triggers.runs(other.id, id, { limit: 1 })).rejects.toMatchObject(refused);
    await expect(triggers.change(other, id, { paused: true })).rejects.toMatchObject(refused);
    await expect(triggers.delete(other.id, id)).rejects.toMatchObject(refused);
    expect(await triggers.list(other.id)).toEqual([]);
    await triggers.delete(DAPP.id, id);
    expect(await store.db.selectFrom("run_logs").selectAll().execute()).toEqual([]);
  });

  test("holds the most triggers of a dapp against parallel calls", async () => {
    // A call may find no connection to the database in time; then they are made again.
    const createMany = () => Promise.allSettled(Array.from({ length: 110 }, () => create({ paused: true })));
    await expect.poll(() => createMany().then(() => triggers.list(DAPP.id))).toHaveLength(100);
  });

  test.each([
    [{ event: "event Closed(uint256 indexed" }, "/event"],
    [{ event: "function a()" }, "/event"],
    [{ event: CLOSED, topics: [null] }, "/event"],
    [{ filters: { players: 1 } }, "/filters/players"],
    [{ filters: { round: "x" } }, "/filters/round"],
    [{ action: { max: { event: "nothing" } } }, "/action/max"],
  ] as const)("refuses %j", async (changes, path) => {
    await expect(create(changes)).rejects.toMatchObject({ code: "invalid_parameter", details: [{ path }] });
  });
});
