import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startIntervalAnvil, type StrangersChain } from "../../external/support/chain.ts";
import { deployByCommands, prepareParties, REPLICA_SECRETS } from "../../external/support/world.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres.ts";
import { startOracleProcess, type OracleChild } from "../../support/tyche.ts";
import { createSupervisedReplica, type SupervisedReplica } from "./supervised.ts";

/** Replicas of a service on one database, and the oracle that answers them. */
export interface ReplicaWorld {
  readonly replicas: readonly SupervisedReplica[];
  readonly chain: StrangersChain;
  readonly server: PostgresServer;
  /** URL of the database. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts replicas that share a database and a chain of strangers, on which it deploys the contracts. */
export async function startReplicas(options: {
  readonly count: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
  /** Called with the last output line of a replica that exits by itself. */
  readonly onEnd: (line: string) => void;
}): Promise<ReplicaWorld> {
  const { count, env = {}, say, onEnd } = options;
  const [server, chain] = await Promise.all([startPostgres(), startIntervalAnvil()]);
  const url = await server.createDatabase();
  const parties = prepareParties(chain, { databaseUrl: url });
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-replicas-"));
  let oracle: OracleChild | undefined;
  const replicas: SupervisedReplica[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(replicas.map((one) => one.end()));
    await oracle?.stop("SIGKILL");
    await Promise.all([chain.close(), server.remove()]);
    parties.remove();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    await deployByCommands(parties);
    oracle = await startOracleProcess(parties.oracle);
    const folderOf = (i: number): string => path.join(folder, `replica-${i + 1}`);
    for (let i = 0; i < count; i += 1) {
      // All replicas share these secrets of the first one, and apart from them only the database.
      if (i > 0)
        for (const name of REPLICA_SECRETS)
          cpSync(path.join(folderOf(0), name), path.join(folderOf(i), name));
      const environment = { ...parties.service, ...env };
      replicas.push(createSupervisedReplica({ dataDir: folderOf(i), environment, say, onEnd }));
      if (i === 0) await replicas[0]!.restarted();
    }
    await Promise.all(replicas.map((one) => one.restarted()));
    return { replicas, chain, server, url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
