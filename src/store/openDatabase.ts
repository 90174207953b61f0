import { existsSync } from "node:fs";
import { checkDatabaseFile } from "../lib/databaseCheck.ts";
import { messageOf } from "../lib/errors.ts";
import type { DataDirectory } from "./dataDirectory.ts";
import { findNotedDatabase, noteDatabase } from "./databaseNote.ts";
import { createPostgresDialect } from "./postgresDialect.ts";
import { openPostgresBus, type Bus } from "./bus.ts";
import { joinReplicas } from "./replicaLock.ts";
import { createSqliteDialect } from "./sqliteDialect.ts";
import { createStatements } from "./statements.ts";
import { assertTables, openStore, type Store } from "./store.ts";
import { StoreError } from "./storeErrors.ts";

/** Once the claim to serve has been lost for this long, statements that still wait for an answer are broken off. */
const SILENCE_MS = 2_000;

/** A PostgreSQL database. */
export interface DatabaseServer {
  /** Secret. */
  readonly url: string;
  /** Environment variable that holds the URL. */
  readonly variable: string;
}

/** An open database, and its name in messages. */
export interface OpenDatabase {
  readonly store: Store;
  readonly name: string;
  /** Present in a process that serves from a server's database, as one of several. */
  readonly replicas?: SharedDatabase;
}

/** What replicas on one database share besides its tables. */
export interface SharedDatabase {
  /** Whether the database answers, as far as is known: this process has its lock, and no write has been waiting for long. */
  isHere(): boolean;
  /** Lets other replicas start, once what only the first does is done. */
  share(): Promise<void>;
  /** Opens the bus between replicas. `replica`: id of this one. */
  openBus(replica: string, onError: (error: unknown) => void): Bus;
}

/**
 * Opens the database in a data directory.
 *
 * @param onFatal for the process that serves: called with one sentence when the database can no longer be relied on. If given, the whole
 * file is checked.
 * @throws {StoreError} `store_unusable` when it is damaged or can't be opened, or the directory's database is on a server.
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
    onFatal?.(`the database ${file} can no longer be used: ${reason}`);
  const onDamage = (problem: string): never => {
    throw new StoreError(`the database ${file} is damaged (${problem}); restore it from a backup`);
  };
  let isOpen = false;
  try {
    if (onFatal !== undefined)
      checkDatabaseFile(file, (problem) =>
        isOpen ? onTrouble(`it is damaged (${problem})`) : onDamage(problem),
      );
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      `the database ${file} can't be opened (${messageOf(error)}); restore it from a backup, or fix its permissions`,
      error,
    );
  }
  const store = await openStore(createSqliteDialect(file, onTrouble), { file, onFatal: onTrouble });
  isOpen = true;
  return { store, name: file };
}

/**
 * Opens a PostgreSQL database for a data directory, and records it there.
 *
 * @param onFatal for the process that serves, as above. If given, the process is one of several replicas, and recovers by itself after
 * the server was away.
 * @param onWarning called with one sentence when the server goes away and when it is back.
 * @throws {StoreError} `store_unusable` when it can't be opened, another process has it to itself, or the directory already has a
 * database.
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
      `${directory.path} holds a database of its own, tyche.sqlite, with dapps and requests that ${name} doesn't have; copy them there with tyche database copy --to ${variable}, or use another data directory`,
    );
  if (onFatal === undefined) return { store: await openStore(createPostgresDialect(url)), name };
  const lock = await joinReplicas(url, {
    onLost: (reason) => onFatal(`${name} can no longer be used: ${reason}`),
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
    const writes = createStatements();
    // The server keeps what is committed, so both are one.
    const write: Store["write"] = (work) => writes.run(() => store.write(work));
    const close = async (): Promise<void> => {
      await store.close();
      await lock.unlock();
    };
    return {
      store: { ...store, write, writeSoon: write, close },
      name,
      replicas: {
        isHere: () => lock.isHeld() && !writes.isSlow(),
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
 * Finds the database server that a data directory has on record.
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
