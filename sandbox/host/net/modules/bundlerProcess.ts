import { messageOf } from "../../sandboxError.ts";
import { transform } from "esbuild";
import type { Confinement } from "../../child/confine.ts";
import { createModuleAllowList } from "./allowList.ts";
import { bundleModule } from "./bundle.ts";
import { confineBundler } from "./confineBundler.ts";
import { ModuleFailureError } from "./moduleFailure.ts";
import { createModuleGraph, type GraphSources } from "./moduleGraph.ts";
import type { Downloaded } from "./npmRegistry.ts";

/**
 * The process that builds one bundle. Parsing what strangers published (package documents, tarballs, code)
 * can hang or fill memory, so it happens where it can be killed. Its downloads go through the parent.
 */

/** From the parent: the task, then answers to downloads. */
export type ToBundler =
  | {
      readonly kind: "bundle";
      readonly specifier: string;
      readonly type: string | undefined;
      readonly allow: readonly string[];
      readonly registry: string;
    }
  | { readonly kind: "downloaded"; readonly id: number; readonly reply: Downloaded }
  | {
      readonly kind: "downloadFailed";
      readonly id: number;
      readonly message: string;
      readonly hint?: string;
    };

/** To the parent: downloads to make, then the outcome. */
export type FromBundler =
  | { readonly kind: "download"; readonly id: number; readonly url: string; readonly accept: string }
  | { readonly kind: "done"; readonly code: string; readonly sources: GraphSources }
  | { readonly kind: "failed"; readonly message: string; readonly hint?: string }
  | { readonly kind: "crashed"; readonly message: string };

const downloads = new Map<number, PromiseWithResolvers<Downloaded>>();
let nextId = 1;

const send = (message: FromBundler): void => {
  process.send?.(message);
};

async function bundle(task: ToBundler & { readonly kind: "bundle" }): Promise<void> {
  const graph = createModuleGraph({
    allow: createModuleAllowList(task.allow),
    registry: task.registry,
    download: (url, accept) => {
      const id = nextId++;
      const waiting = Promise.withResolvers<Downloaded>();
      downloads.set(id, waiting);
      send({ kind: "download", id, url, accept });
      return waiting.promise;
    },
  });
  try {
    const code = await bundleModule(graph, task.specifier, task.type);
    send({ kind: "done", code, sources: graph.sources() });
  } catch (error) {
    if (error instanceof ModuleFailureError) send({ kind: "failed", ...error.failure });
    else send({ kind: "crashed", message: messageOf(error) });
  }
}

process.on("message", (message: ToBundler) => {
  if (message.kind === "bundle") void confined.then(() => bundle(message));
  else {
    const waiting = downloads.get(message.id);
    downloads.delete(message.id);
    if (message.kind === "downloaded") waiting?.resolve(message.reply);
    else waiting?.reject(new ModuleFailureError(message.message, message.hint));
  }
});

// Without its parent it has nothing to do; esbuild's own process ends with this one. A signal to itself would
// not end it: the kernel shields the first process of a namespace from those.
process.on("disconnect", () => process.exit(1));

// Runs before anything written by strangers is read. If it fails, so does the process.
const confined = confineBundler(JSON.parse(process.argv[2] ?? "") as Confinement, () => transform(""));
await confined;
