import { existsSync } from "node:fs";
import { checkDatabase } from "../lib/databaseCheck.ts";
import { messageOf } from "../lib/errors.ts";
import type { DataDirectory } from "../store/dataDirectory.ts";
import { findNotedDatabase, noteDatabase } from "../store/databaseNote.ts";
import { createPostgresDialect } from "../store/postgresDialect.ts";
import { openPostgresBus } from "../store/bus.ts";
import type { Bus } from "../store/bus.ts";
import { joinReplicas } from "../store/replicaLock.ts";
import { createSqliteDialect } from "../store/sqliteDialect.ts";
import { assertTables, openStore } from "../store/store.ts";
import type { Store } from "../store/store.ts";
import { StoreError } from "../store/storeErrors.ts";

/** Once the claim to serve is lost for so long, statements that still wait for an answer get none. */
const SILENCE_MS = 2_000;

/** A database of PostgreSQL. */
export interface DatabaseServer {
  /** Secret. */
  readonly url: string;
  /** Variable of the environment that holds it. */
  readonly variable: string;
}

/** A database that is open, and what messages call it. */
export interface OpenDatabase {
  readonly store: Store;
  readonly name: string;
  /** Of a process that serves from a server's database, as one of several. */
  readonly replicas?: SharedDatabase;
}

/** What replicas on one database have besides their tables. */
export interface SharedDatabase {
  /** Whether the database answers, as far as it is known. */
  isHere(): boolean;
  /** Lets other replicas start: what only the first does is done. */
  share(): Promise<void>;
  /** Opens what they tell each other over. `replica`: id of this one. */
  openBus(replica: string, onError: (error: unknown) => void): Bus;
}

/**
 * Opens the database in a data directory.
 *
 * @param onFatal of the process that serves: told, in one sentence, when the database can't be relied on any more. With it, the whole
 * file is checked.
 * @throws {StoreError} `store_unusable` when it is damaged or can't be opened, or the directory's database is a server's.
 */
export async function openFile(
  directory: DataDirectory,
  onFatal?: (message: string) => void,
): Promise<OpenDatabase> {
  const variable = findNotedDatabase(directory.path);
  if (variable !== undefined)
    throw new StoreError(
      `the database of ${directory.path} is the one that ${variable} names; configure it: "database": {"url": {"env": "${variable}"}}`,
    );
  const file = directory.file("tyche.sqlite");
  const onTrouble = (reason: string): void =>
    onFatal?.(`the database ${file} can't be used any more: ${reason}`);
  const onDamage = (problem: string): never => {
    throw new StoreError(`the database ${file} is damaged (${problem}); put it back from a backup`);
  };
  let isOpen = false;
  try {
    if (onFatal !== undefined)
      checkDatabase(file, (problem) =>
        isOpen ? onTrouble(`it is damaged (${problem})`) : onDamage(problem),
      );
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      `the database ${file} can't be opened (${messageOf(error)}); put it back from a backup, or see to its permissions`,
      error,
    );
  }
  const store = await openStore(createSqliteDialect(file, onTrouble), { file, onFatal: onTrouble });
  isOpen = true;
  return { store, name: file };
}

/**
 * Opens a database of PostgreSQL for a data directory, which notes it.
 *
 * @param onFatal of the process that serves, as above. With it, the process is one of several replicas, and goes on by itself when the
 * server has been away.
 * @param onWarning told, in one sentence, when the server goes away and when it is back.
 * @throws {StoreError} `store_unusable` when it can't be opened, another process has it alone, or the directory has a database already.
 */
export async function openServer(
  directory: DataDirectory,
  { url, variable }: DatabaseServer,
  onFatal?: (message: string) => void,
  onWarning: (message: string) => void = () => {},
): Promise<OpenDatabase> {
  const name = `the database that ${variable} names`;
  if (existsSync(directory.file("tyche.sqlite")))
    throw new StoreError(
      `${directory.path} holds a database of its own, tyche.sqlite, with dapps and requests that ${name} doesn't have; bring them there with tyche database copy --to ${variable}, or use another data directory`,
    );
  if (onFatal === undefined) return { store: await openStore(createPostgresDialect(url)), name };
  const lock = await joinReplicas(url, {
    onLost: (reason) => onFatal(`${name} can't be used any more: ${reason}`),
    onAway(reason) {
      onWarning(`${name} is away: ${reason}; calls get 503 until it is back`);
      setTimeout(() => {
        if (!lock.isHeld()) dialect.breakConnections();
      }, SILENCE_MS).unref();
    },
    onBack: () => onWarning(`${name} is back`),
    assertTables: () => assertTables(createPostgresDialect(url)),
  });
  const dialect = createPostgresDialect(url, { claim: lock });
  try {
    const { isAlone } = lock;
    const store = await openStore(dialect, { isAlone });
    noteDatabase(directory, variable);
    const close = async (): Promise<void> => {
      await store.close();
      await lock.unlock();
    };
    return {
      store: { ...store, close },
      name,
      replicas: {
        isHere: () => lock.isHeld(),
        share: () => lock.share(),
        openBus: (replica, onError) => openPostgresBus(url, { replica, onError }),
      },
    };
  } catch (error) {
    await lock.unlock();
    throw error;
  }
}

/**
 * Finds the server that a data directory notes.
 *
 * @throws {StoreError} when the variable with its URL isn't set.
 */
export function findServer(
  dataDir: string,
  environment: Readonly<Record<string, string | undefined>>,
): DatabaseServer | undefined {
  const variable = findNotedDatabase(dataDir);
  if (variable === undefined) return undefined;
  const url = environment[variable];
  if (url) return { url, variable };
  throw new StoreError(`${variable}, which holds the URL of the database of ${dataDir}, is not set`);
}
