import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { SandboxClosedError } from "../../../sandbox/host/poolErrors.ts";
import { createAcceptance, type Acceptance } from "../../../src/requests/accept/acceptance.ts";
import type { CommandChecker } from "../../../src/requests/accept/commandChecker.ts";
import type { OpenRequest, RequestContent } from "../../../src/requests/openRequest.ts";
import { presentRequest } from "../../../src/requests/read/present.ts";
import { createRequestBook, type RequestBook } from "../../../src/requests/requestBook.ts";
import { readDryRun, readDryRuns } from "../../../src/requests/accept/dryRunLog.ts";
import { FunctionFailedError } from "../../../src/requests/accept/runDetails.ts";
import { withOwnErrors } from "../../../src/requests/accept/sandboxRuns.ts";
import type { Command, PresetCommand } from "../../../src/requests/service.ts";
import type { Dapp } from "../../../src/dapps/dapp.ts";
import type { ServiceNetwork } from "../../../src/requests/serviceNetwork.ts";
import { DatabaseAwayError } from "../../../src/store/databaseAway.ts";
import { insertDapp } from "../../../src/store/dapps.ts";
import type { Store } from "../../../src/store/store.ts";
import { DATABASES, useStore } from "../../support/databases.ts";
import { DESK_DAPP, DESK_NETWORK } from "../../support/pipelineWorld.ts";

const DAPP: Dapp = { id: DESK_DAPP, name: "test", keyId: "key_1", facilities: ["functions"] };
const COMMAND = {
  kind: "function",
  network: DESK_NETWORK,
  source: "return 1",
  args: [],
  returnType: "string",
} as const;

const PRESET: PresetCommand = {
  kind: "preset",
  network: DESK_NETWORK,
  preset: "nDice",
  params: { numDice: "2" },
  confirmations: 2,
  beacon: "drand",
  label: "raffle",
  once: true,
};

/** Returns what the checks store of a command. */
function contentOf(command: Command): RequestContent {
  if (command.kind !== "preset")
    return {
      kind: "function",
      params: { source: COMMAND.source, args: [], returnType: "string" },
      progress: { returnType: "string" },
      outcome: null,
    };
  const { params, preset, confirmations, label, once } = command;
  const beacon = { round: "1000", time: "2023-08-23T15:59:24.000Z", chainHash: "0x52" } as const;
  return {
    kind: "preset",
    params: { ...params, preset, confirmations: confirmations!, beacon, label: label!, once: once! },
    progress: { sourceHash: "0x5a", args: ["2"], returnType: "string" },
    outcome: null,
  };
}

describe.each(DATABASES)("on %s", (_name, create) => {
  let store: Store;
  let dryRun: (...given: Parameters<CommandChecker["dryRun"]>) => ReturnType<CommandChecker["dryRun"]>;
  let hasDatabase: boolean;
  const taken: string[] = [];

  useStore(create, (opened) => {
    store = opened;
  });
  beforeEach(async () => {
    taken.length = 0;
    hasDatabase = true;
    vi.restoreAllMocks();
    await insertDapp(store.db, { id: DESK_DAPP, name: "test", facilities: [], createdAt: 1 });
  });

  /** Creates what one process accepts requests with. */
  const open = (
    over: Store = store,
    maxDailyPerDapp?: number,
  ): Acceptance & { readonly book: RequestBook } => {
    const book = createRequestBook(over);
    const network = {
      intake: () => ({ take: ({ id }: OpenRequest) => taken.push(id) }),
    } as unknown as ServiceNetwork;
    const acceptance = createAcceptance({
      store: over,
      book,
      maxOpenPerNetwork: 2_500,
      checker: {
        check: async (_dapp, command) => contentOf(command),
        dryRun: (...given) => dryRun(...given),
      },
      getNetwork: () => network,
      baseUrl: () => "http://tyche",
      replica: { hasDatabase: () => hasDatabase },
      ...(maxDailyPerDapp === undefined ? {} : { maxDailyPerDapp }),
    });
    return { ...acceptance, book };
  };
  const stateOf = async (id: string): Promise<string | undefined> =>
    (await createRequestBook(store).find(id))?.state;

  test("a call is refused while the database doesn't answer", async () => {
    hasDatabase = false;
    const process = open();
    await expect(process.accept(DAPP, COMMAND, {})).rejects.toMatchObject({
      code: "overloaded",
      retryable: true,
    });
    expect(process.book.openCount()).toBe(0);
  });

  test.each([0, -86_400_000])(
    "a dry run that the end of its process cuts short is run by the next one, the wall clock moved by %i ms",
    async (jumpMs) => {
      const pool = withOwnErrors({ run: () => Promise.reject(new SandboxClosedError()) } as never);
      const { promise: ran, resolve } = Promise.withResolvers<void>();
      dryRun = async () => {
        resolve();
        await pool.run({} as never);
        return {};
      };
      const { id } = await open().accept(DAPP, COMMAND, { isAsync: true });
      await ran;
      const wall = Date.now();
      vi.spyOn(Date, "now").mockReturnValue(wall + jumpMs);
      const next = open();
      next.book.restore([(await next.book.find(id))!]);
      dryRun = async () => ({});
      next.resumeChecks(DESK_NETWORK);
      await vi.waitFor(() => expect(taken).toEqual([id]), { timeout: 60_000 });
      expect(await stateOf(id)).toBe("received");
    },
  );

  test("the dry run that the next process runs gets what the call's check stored", async () => {
    const { promise: ran, resolve } = Promise.withResolvers<RequestContent>();
    // It is still running when its process ends.
    dryRun = () => new Promise(() => {});
    const { id } = await open().accept(DAPP, PRESET, { isAsync: true });
    const next = open();
    next.book.restore([(await next.book.find(id))!]);
    dryRun = async (_dapp, content) => {
      resolve(content);
      return {};
    };
    next.resumeChecks(DESK_NETWORK);
    expect(await ran).toMatchObject(contentOf(PRESET));
    await vi.waitFor(() => expect(taken).toEqual([id]), { timeout: 60_000 });
  });

  test.each([true, false])(
    "what a dry run warns of is kept with the request, asynchronous: %s",
    async (isAsync) => {
      dryRun = async () => ({ warnings: ["careful"] });
      const { id } = await open().accept(DAPP, COMMAND, { isAsync });
      await vi.waitFor(() => expect(taken).toEqual([id]), { timeout: 60_000 });
      const request = (await createRequestBook(store).find(id))!;
      expect(request.progress).toMatchObject({ warnings: ["careful"] });
      const outcome = { transactionHash: "0x1", requestId: "0x2", result: "0x", parsedResult: "", err: "0x" };
      const shown = presentRequest({ ...request, outcome } as OpenRequest, {
        explorer: undefined,
        share: "",
      });
      expect(shown.outcome).toMatchObject({ warnings: ["careful"] });
    },
  );

  test("a call whose dry run fails is refused with the address of the page that shows the run", async () => {
    const refusal = {
      success: false,
      requestId: "",
      result: "0x",
      parsedResult: "",
      err: "boom",
      url: "",
      console: "so far",
      consoleTruncated: false,
      timeMs: 1.5,
      memoryBytes: 1_048_576,
      httpRequests: 2,
      line: 2,
      column: 7,
    } as const;
    dryRun = () => Promise.reject(new FunctionFailedError(refusal));
    const error = await open()
      .accept(DAPP, COMMAND, {})
      .catch((thrown: unknown) => thrown);
    const [run, ...others] = (await readDryRuns(store.db, DAPP.id)).items;
    expect(others).toEqual([]);
    expect(run).toMatchObject({ kind: "function", title: "return 1", err: "boom", line: 2 });
    const dryRunUrl = `http://tyche/dapps/${DAPP.id}/dry-runs/${run!.id}`;
    expect(error).toMatchObject({ code: "function_failed", details: { ...refusal, dryRunUrl } });
    expect(run).not.toHaveProperty("params");
    const params = { source: "return 1", args: [], returnType: "string" };
    expect(await readDryRun(store.db, DAPP.id, run!.id)).toEqual({ ...run, params });
  });

  test("an accepted request whose dry run fails keeps what that wrote and took", async () => {
    const measures = { console: "so far", timeMs: 1.5, memoryBytes: 1_048_576, httpRequests: 2 };
    const failed = {
      success: false,
      requestId: "",
      result: "0x",
      parsedResult: "",
      err: "boom",
      url: "",
    } as const;
    const refusal = { ...failed, ...measures, consoleTruncated: false };
    dryRun = () => Promise.reject(new FunctionFailedError(refusal));
    const { id } = await open().accept(DAPP, COMMAND, { isAsync: true });
    await vi.waitFor(async () => expect(await stateOf(id)).toBe("failed"), { timeout: 60_000 });
    const request = (await createRequestBook(store).find(id))!;
    expect(presentRequest(request, { explorer: undefined, share: "" })).toMatchObject({
      error: { message: "the dry run of the source failed: boom" },
      dryRun: measures,
    });
  });

  test("what came of a dry run is stored once, when the database is back, also where the first try was committed", async () => {
    for (const isCommitted of [false, true]) {
      let failures = 0;
      const flaky: Store = {
        ...store,
        async write(work) {
          if (failures === 0) return await store.write(work);
          failures -= 1;
          if (isCommitted) await store.write(work);
          throw new DatabaseAwayError(new Error("Connection terminated unexpectedly"));
        },
      };
      dryRun = async () => {
        failures = 1;
        return {};
      };
      const { id } = await open(flaky).accept(DAPP, COMMAND, { isAsync: true });
      await vi.waitFor(() => expect(taken).toContain(id), { timeout: 60_000 });
      const stored = await createRequestBook(store).find(id);
      expect(stored?.timeline.map(({ state }) => state)).toEqual(["checking", "received"]);
    }
  });

  test("processes on one database let a dapp's day in once, together", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 22, 12) });
    onTestFinished(() => void vi.useRealTimers());
    dryRun = async () => ({});
    const [one, other] = [open(store, 5), open(store, 5)];
    const answers = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? one : other).accept(DAPP, COMMAND, {})),
    );
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    expect(refused).toHaveLength(7);
    for (const reason of refused) expect(reason).toMatchObject({ code: "rate_limited", retryable: true });
    await expect(other.accept(DAPP, COMMAND, {})).rejects.toThrow("00:00 UTC");
    const rows = await store.db.selectFrom("requests").select("id").execute();
    expect(rows).toHaveLength(5);
  });
});
