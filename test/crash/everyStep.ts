import { cpSync, mkdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import path from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { VrfVersion } from "../../src/domain/vocabulary.ts";
import type { Command, RequestRecord } from "../../src/requests/service.ts";
import { startPipelineWorld, type PipelineWorld } from "../support/pipelineWorld.ts";
import { TEST_PROVING_KEY, TEST_ROLES } from "../support/stack.ts";
import type { CrashConfig } from "./crashEntry.ts";
import { startCrashProcess, type CrashProcess } from "./crashProcess.ts";
import type { CrashPoint } from "./steps.ts";

/** One kind of request to crash at every step. */
export interface CrashSubject {
  /** Returns the command for a run, given its number. */
  readonly command: (run: number) => Command | Promise<Command>;
  /** Returns the dapp that makes the request. Default: one dapp for all runs, whose subscriptions exist already. */
  readonly dappId?: (run: number) => string;
  /** Preset that the service has. Default none, as every process reads and minifies its presets when it starts. */
  readonly preset?: string;
  /** What one run adds to the chain: requests, and transactions of the service. */
  readonly onChain: {
    readonly words: number;
    readonly functions: number;
    readonly reports: number;
    readonly transactions: number;
  };
}

/**
 * Kills the service's process right before and right after every step that writes or sends while it processes a request. After a restart
 * the request must end once, with one request on chain, and a repeated call must give the same answer.
 */
export function crashAtEveryStep(
  subject: (world: PipelineWorld) => CrashSubject,
  vrfVersion: VrfVersion = "v2",
): void {
  let world: PipelineWorld;
  let config: CrashConfig;
  let next: CrashProcess;
  let run = 0;

  beforeAll(async () => {
    world = await startPipelineWorld({ vrfVersion });
    const presets = path.join(world.folder, "presets");
    const { preset } = subject(world);
    mkdirSync(presets);
    if (preset !== undefined)
      cpSync(path.join("plugins", preset), path.join(presets, preset), { recursive: true });
    config = {
      presets,
      database: path.join(world.folder, "tyche.db"),
      chain: world.node.ipcPath,
      chainId: world.stack.chainId,
      contracts: world.stack.addresses,
      operatorKey: Buffer.from(TEST_ROLES.operator.secretKey).toString("hex"),
      keyHash: TEST_PROVING_KEY.keyHash,
      gasPriceWei: String(world.stack.gasPriceWei),
      allowanceJuels: String(1_000n * 10n ** 18n),
    };
    next = startCrashProcess();
  });
  afterAll(async () => {
    next.kill();
    await world.close();
  });

  /** Starts the service on the data that the previous process left; meanwhile the next process loads. */
  const open = async (): Promise<CrashProcess> => {
    const opened = next;
    next = startCrashProcess();
    await opened.ask({ do: "open", config });
    return opened;
  };

  const countOnChain = async () => ({
    words: (await world.events("RandomWordsRequested")).length,
    functions: (await world.events("OracleRequest")).length,
    reports: (await world.events("BatchReported")).length,
    transactions: await world.stack.client.getNonce(TEST_ROLES.operator.address, "latest"),
  });

  /** Returns the gas of all transactions that carry requests, from their receipts. */
  const gasOnChain = async (file: string): Promise<number> => {
    const rows = query(file, (database) =>
      database.prepare("SELECT hash FROM transactions WHERE payload NOT LIKE '%\"entries\":[]%'").all(),
    );
    const receipts = await Promise.all(rows.map(({ hash }) => world.stack.client.getReceipt(hash as Hex)));
    return receipts.reduce((sum, receipt) => sum + Number(receipt?.gasUsed ?? 0n), 0);
  };

  const submitOnce = async (service: CrashProcess, { crashAt }: { readonly crashAt?: CrashPoint } = {}) => {
    run += 1;
    const { command, dappId = () => "dapp_crash" } = subject(world);
    const submit = {
      do: "submit",
      dappId: dappId(run),
      command: await command(run),
      key: `key ${run}`,
    } as const;
    const before = await countOnChain();
    const first = await service.ask(crashAt === undefined ? submit : { ...submit, crashAt });
    return { submit, before, first };
  };

  const expectEnded = (record: RequestRecord | undefined): void => {
    expect(record).toMatchObject({ state: "fulfilled", error: null, outcome: { success: true } });
    const states = record!.timeline.map(({ state }) => state);
    expect(states.filter((state) => state === "fulfilled" || state === "failed")).toHaveLength(1);
    expect(new Set(states).size).toBe(states.length);
    expect(record!.timeline.map(({ seq }) => seq)).toEqual(states.map((_, i) => i + 1));
  };

  test("a request ends once, with one request on chain, wherever the process is killed", async () => {
    let service = await open();
    const warmUp = await submitOnce(service);
    expectEnded(warmUp.first?.record);
    const { steps = [] } = (await submitOnce(service)).first ?? {};
    expect(steps.length).toBeGreaterThan(5);

    const outcomes: string[] = [];
    for (const [step, name] of steps.entries()) {
      for (const side of ["before", "after"] as const) {
        const where = `${side} step ${step} (${name})`;
        const { submit, before, first } = await submitOnce(service, { crashAt: { step, side } });
        // This run may take fewer steps than the first, for instance if two changes are stored together: then the crash never comes.
        const isKilled = first === undefined;
        if (isKilled) {
          await service.exited;
          service = await open();
        }
        const again = await service.ask(submit);
        expectEnded(again?.record);
        await service.ask({ do: "idle" });
        const after = await countOnChain();
        const difference = {
          words: after.words - before.words,
          functions: after.functions - before.functions,
          reports: after.reports - before.reports,
          transactions: after.transactions - before.transactions,
        };
        expect({ where, ...difference }).toEqual({ where, ...subject(world).onChain });
        expect({ where, ...checkDatabase(config.database) }).toEqual({
          where,
          integrity: "ok",
          miscounted: [],
        });
        outcomes.push(`${where}: ${isKilled ? "killed" : "too late"}`);
      }
    }
    // A receipt may be stored after the request has ended.
    await vi.waitFor(async () => expect(countedGas(config.database)).toBe(await gasOnChain(config.database)));
    service.kill();
    await service.exited;
    expect(outcomes.filter((outcome) => outcome.endsWith("killed")).length).toBeGreaterThan(
      steps.length * 1.5,
    );
  }, 600_000);
}

/** Checks the file's integrity, and compares the usage counts with the requests themselves. */
function checkDatabase(file: string): { readonly integrity: unknown; readonly miscounted: unknown } {
  return query(file, (database) => ({
    integrity: database.prepare("PRAGMA integrity_check").get()?.["integrity_check"],
    miscounted: database
      .prepare(
        `SELECT dapp_id, kind, requests, fulfilled, failed FROM usage
         EXCEPT SELECT dapp_id, kind, count(*), sum(state = 'fulfilled'), sum(state = 'failed') FROM requests
         GROUP BY dapp_id, kind, date(created_at / 1000, 'unixepoch')`,
      )
      .all(),
  }));
}

function countedGas(file: string): number {
  return query(file, (database) =>
    Number(database.prepare("SELECT sum(gas_used) AS gas FROM usage").get()!["gas"]),
  );
}

function query<T>(file: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}
