import { parentPort, workerData } from "node:worker_threads";
import { findDamage } from "./databaseCheck.ts";

const { file } = workerData as { readonly file: string };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort!.postMessage(findDamage(file));
