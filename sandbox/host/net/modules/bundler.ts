import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { createRequestBudget } from "../requestBudget.ts";
import type { RequestBudget } from "../requestBudget.ts";
import type { GuardedFetch } from "../guardedFetch.ts";
import type { FromBundler, ToBundler } from "./bundlerProcess.ts";
import { ModuleFailureError } from "./moduleFailure.ts";
import type { GraphSources } from "./moduleGraph.ts";

/** A module with all it imports, as one script; see `bundleModule`. */
export interface Bundle {
  /** ASCII. */
  readonly code: string;
  readonly sources: GraphSources;
}

export interface BundleTask {
  readonly specifier: string;
  /** Import attribute `type`, absent for code. */
  readonly type?: string | undefined;
  /** Entries of the allow-list. */
  readonly allow: readonly string[];
  /** Base URL with a final slash. */
  readonly registry: string;
}

/** Files fetched for one bundle: of a package its document and its tarball, so the nodes' 100 imports twice. */
const MAX_DOWNLOADS = 200;
/** Size of each, in bytes. The nodes' limit of an import. */
const MAX_DOWNLOAD_BYTES = 10 * 1_024 * 1_024;
const DOWNLOAD_TIMEOUT_MS = 30_000;
/** Longest time for one bundle, downloads included; the run that asked has long been told, the next one gains. */
const BUNDLE_TIMEOUT_MS = 60_000;
/** Heap of the process that bundles, in MB; its esbuild has memory of its own. */
const HEAP_MB = 512;
/** Data of each of the two processes, in bytes; Node doesn't start with 1 GiB. 10 MB of hostile code took esbuild to 2 GB. */
const MAX_DATA_BYTES = 1_536 * 1_024 * 1_024;

/**
 * Makes a bundle in a process of its own, which is killed when it is done, takes too long or the signal aborts.
 *
 * @throws {ModuleFailureError} If the module can't be had. Any other error is a defect of ours or the machine's.
 */
export async function makeBundle(
  task: BundleTask,
  fetcher: GuardedFetch,
  signal: AbortSignal,
): Promise<Bundle> {
  const child = fork(fileURLToPath(new URL("bundlerProcess.ts", import.meta.url)), {
    env: {},
    ...limitedNode(),
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    // A process group of its own, so that esbuild's process dies with it.
    detached: true,
  });
  // Runs come first: a bundle is made while sources wait for nothing else.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  const budget = createRequestBudget({
    maxRequests: MAX_DOWNLOADS,
    maxUrlLength: 8_192,
    maxResponseBytes: MAX_DOWNLOAD_BYTES,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
  });
  const timer = setTimeout(() => ending.abort(), BUNDLE_TIMEOUT_MS);
  try {
    return await converse(
      child,
      task,
      (url, accept) => download(fetcher, { url, accept, budget, signal: ended }),
      ended,
    );
  } finally {
    clearTimeout(timer);
    ending.abort();
    killGroup(child);
  }
}

/** Starts Node through `prlimit` where there is one; esbuild's process inherits the limit. */
function limitedNode(): { readonly execPath: string; readonly execArgv: string[] } {
  const nodeArgs = [`--max-old-space-size=${HEAP_MB}`];
  const prlimit = ["/usr/bin/prlimit", "/bin/prlimit"].find((path) => existsSync(path));
  if (prlimit === undefined) return { execPath: process.execPath, execArgv: nodeArgs };
  return {
    execPath: prlimit,
    execArgv: [`--data=${MAX_DATA_BYTES}`, "--core=0", process.execPath, ...nodeArgs],
  };
}

type ParentDownload = (
  url: string,
  accept: string,
) => Promise<
  Omit<ToBundler & { kind: "downloaded" }, "id"> | Omit<ToBundler & { kind: "downloadFailed" }, "id">
>;

function converse(
  child: ChildProcess,
  task: BundleTask,
  download: ParentDownload,
  signal: AbortSignal,
): Promise<Bundle> {
  return new Promise((resolve, reject) => {
    const tell = (message: ToBundler): void => {
      if (child.connected) child.send(message, () => undefined);
    };
    const unprepared = () =>
      new ModuleFailureError(
        `Import '${task.specifier.slice(0, 200)}' failed.`,
        "Preparing the module took too long.",
      );
    signal.addEventListener("abort", () => reject(unprepared()), { once: true });
    child.once("error", reject);
    child.once("exit", () =>
      reject(
        new ModuleFailureError(
          `Import '${task.specifier.slice(0, 200)}' failed.`,
          "Preparing the module took too much memory.",
        ),
      ),
    );
    child.on("message", (message: FromBundler) => {
      switch (message.kind) {
        case "download":
          void download(message.url, message.accept).then((answer) => tell({ ...answer, id: message.id }));
          break;
        case "done":
          resolve({ code: message.code, sources: message.sources });
          break;
        case "failed":
          reject(new ModuleFailureError(message.message, message.hint));
          break;
        case "crashed":
          reject(new Error(message.message));
          break;
      }
    });
    tell({ kind: "bundle", type: undefined, ...task });
  });
}

async function download(
  fetcher: GuardedFetch,
  {
    url,
    accept,
    budget,
    signal,
  }: {
    readonly url: string;
    readonly accept: string;
    readonly budget: RequestBudget;
    readonly signal: AbortSignal;
  },
): ReturnType<ParentDownload> {
  const outcome = await fetcher.fetch({ url, headers: [["accept", accept]] }, { budget, signal });
  if (!outcome.ok) {
    const { hint } = outcome.failure;
    return { kind: "downloadFailed", message: `error sending request for url (${url})`, hint };
  }
  const { status, url: finalUrl, headers, body } = outcome.response;
  const contentType = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  return { kind: "downloaded", reply: { status, url: finalUrl, contentType, body } };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // All of its processes have ended by themselves.
  }
}
