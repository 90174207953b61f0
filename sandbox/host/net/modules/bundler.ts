import { findKernel } from "../../../build/buildKernel.ts";
import type { ChildProcess } from "node:child_process";
import { constants, getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { createRequestBudget, type RequestBudget } from "../requestBudget.ts";
import type { GuardedFetch } from "../guardedFetch.ts";
import type { Confinement } from "../../child/confine.ts";
import { acceptedByEnvironment, findMissingLayers } from "../../layers.ts";
import { releaseUserId, takeUserId } from "../../userIds.ts";
import { forkBundler } from "./forkBundler.ts";
import { MAX_AHEAD } from "./lookAhead.ts";
import type { FromBundler, ToBundler } from "./bundlerProcess.ts";
import { ModuleFailureError } from "./moduleFailure.ts";
import type { GraphSources } from "./moduleGraph.ts";
import { parseModuleSpecifier } from "./moduleSpecifier.ts";
import { packumentRequest } from "./npmRegistry.ts";

/** A module with all its imports, as one script; see `bundleModule`. */
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

/**
 * Files fetched for one bundle. A package takes two, its document and its tarball: twice the nodes' 100 imports, and two for
 * each package that is fetched ahead and may not be needed.
 */
const MAX_DOWNLOADS = 200 + 2 * MAX_AHEAD;
/** Size of each, in bytes; the nodes' limit for an import. */
const MAX_DOWNLOAD_BYTES = 10 * 1_024 * 1_024;
const DOWNLOAD_TIMEOUT_MS = 30_000;

/**
 * Creates a bundle in a separate process, which is killed when it is done or the signal aborts.
 *
 * @throws {ModuleFailureError} If the module can't be loaded. Any other error is our defect or the machine's.
 */
export async function makeBundle(
  task: BundleTask,
  fetcher: GuardedFetch,
  signal: AbortSignal,
): Promise<Bundle> {
  const given = confinement();
  const { uid } = given;
  const child = forkBundler(fileURLToPath(new URL("bundlerProcess.ts", import.meta.url)), given);
  if (uid !== null) for (const end of ["exit", "error"]) child.once(end, () => releaseUserId(uid));
  // Runs come first, so bundling gets a lower priority than this process has.
  const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
  const priority = Math.min(getPriority() + PRIORITY_BELOW_NORMAL, PRIORITY_LOW);
  if (child.pid !== undefined) setPriority(child.pid, priority);
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  const budget = createRequestBudget({
    maxHttpRequests: MAX_DOWNLOADS,
    maxHttpUrlLength: 8_192,
    maxHttpResponseBytes: MAX_DOWNLOAD_BYTES,
    maxHttpDurationMs: DOWNLOAD_TIMEOUT_MS,
  });
  const shared = fetcher.share(ended);
  const fetch: ParentDownload = (url, accept) => download(shared, { url, accept, budget, signal: ended });
  const first = firstRequest(task);
  // The process takes some time to start, and its first request is known.
  const early = first && fetch(first.url, first.accept);
  try {
    return await converse(
      child,
      task,
      (url, accept) => (url === first?.url && early) || fetch(url, accept),
      ended,
    );
  } finally {
    ending.abort();
    killGroup(child);
  }
}

function firstRequest({ specifier, registry }: BundleTask): ReturnType<typeof packumentRequest> | undefined {
  const parsed = parseModuleSpecifier(specifier);
  return parsed.kind === "npm" ? packumentRequest(registry, parsed.name) : undefined;
}

/** What the process gives up: as root its user, and most system calls. */
function confinement(): Confinement {
  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  const isMissing = findMissingLayers({ isRoot }).some(({ name }) => name === "user");
  return {
    uid: isRoot && !isMissing ? takeUserId() : null,
    isFilterRequired: !acceptedByEnvironment().includes("system-calls"),
    kernel: findKernel(),
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
  fetcher: Pick<GuardedFetch, "fetch">,
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
    // All its processes have already ended.
  }
}
