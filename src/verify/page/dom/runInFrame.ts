import type { RunSource, SourceOutcome } from "../../runSource.ts";
import { findObstacle } from "../plainSource.ts";
import { createSourceScript, type ScriptOutcome } from "../sourceScript.ts";

/** The time limit of the oracle's nodes. */
const MAX_RUN_MS = 10_000;

/**
 * Creates a runner for sources in a worker inside a sandboxed frame: without network, storage or the page's
 * origin. A source can tell this worker from a node, by the text of a function for example, so the runs are approximate.
 *
 * @param frameHtml the frame's document, as built.
 */
export function createFrameRunner(frameHtml: string): RunSource {
  return async ({ source, args, bytesArgs, maxResponseBytes, signal }) => {
    const obstacle = findObstacle(source);
    if (obstacle !== undefined) return skipped(obstacle);
    const outcome = await runOnce(frameHtml, createSourceScript(source), { args, bytesArgs }, signal);
    if (outcome === undefined) return { kind: "cut", touched: [] };
    if ("differing" in outcome)
      return skipped(`the source uses ${outcome.differing}, which may differ from machine to machine`);
    if ("stopped" in outcome) return skipped(`the source fails here: ${outcome.stopped}`);
    if ("thrown" in outcome)
      return { kind: "error", message: outcome.thrown, touched: [], isApproximate: true };
    const hex = outcome.result;
    if (!/^(?:[0-9a-f]{2})*$/.test(hex) || hex.length > 2 * maxResponseBytes)
      return skipped("its result is too long");
    const bytes = Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
      parseInt(hex.slice(2 * i, 2 * i + 2), 16),
    );
    return { kind: "result", bytes, touched: [], isApproximate: true };
  };
}

function skipped(reason: string): SourceOutcome {
  return { kind: "skipped", reason, touched: [] };
}

/** Returns `undefined` if the time runs out. Removes the frame, and so ends the run, when the signal aborts. */
async function runOnce(
  frameHtml: string,
  script: string,
  input: object,
  signal: AbortSignal | undefined,
): Promise<ScriptOutcome | undefined> {
  signal?.throwIfAborted();
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.hidden = true;
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  frame.srcdoc = frameHtml;
  document.body.append(frame);
  const { port1, port2 } = new MessageChannel();
  try {
    await loaded;
    return await new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      const timer = setTimeout(() => resolve(undefined), MAX_RUN_MS);
      port1.addEventListener("message", ({ data }) => {
        clearTimeout(timer);
        resolve(data as ScriptOutcome);
      });
      port1.start();
      // A sandboxed frame has no origin that could be named.
      frame.contentWindow!.postMessage({ script, input }, "*", [port2]);
    });
  } finally {
    port1.close();
    frame.remove();
  }
}
