/* eslint-disable no-empty-pattern -- Vitest reads from this pattern which others a fixture needs. */
import { randomUUID } from "node:crypto";
import { cpSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "vitest";
import { NETWORK_NAMES } from "../../src/networks/profiles.ts";
import { launchChromium } from "../web/support/chromium.ts";
import { connectOperator } from "./signIn.ts";
import { createCaller, makeDataDir, removeDataDir, startTycheProcess, type TycheProcess } from "./tyche.ts";

/** Number of VRF keys on {@link SharedService}'s Sepolia. */
export const SHARED_VRF_KEYS = 3;

/** A service that the files of a worker use one after the other: none stops it, and each puts back what it changes for all. */
export interface SharedService extends Omit<TycheProcess, "apiKey" | "call" | "stop" | "exited"> {
  /** Folder of its presets: a copy of the built-in ones. */
  readonly pluginsDir: string;
}

/** One dapp of a shared service, with a key of its own. */
export interface SharedDapp extends SharedService, Pick<TycheProcess, "apiKey" | "call"> {
  readonly dappId: string;
}

/**
 * What is slow to start, for `shared.beforeAll`: Chromium (`browser`), and a service with all embedded networks (`service`). Each starts when
 * the first file of a worker asks for it, and stops with the worker. Files keep apart by dapps of their own, and by browser contexts.
 */
export const shared = test
  .extend("browser", { scope: "worker" }, async ({}, { onCleanup }) => {
    const browser = await launchChromium();
    onCleanup(() => browser.close());
    return browser;
  })
  .extend("service", { scope: "worker" }, async ({}, { onCleanup }): Promise<SharedService> => {
    const dataDir = makeDataDir();
    const pluginsDir = path.join(dataDir, "presets");
    cpSync("plugins", pluginsDir, { recursive: true });
    const networks = Object.fromEntries(
      NETWORK_NAMES.map((name) => [
        name,
        name === "sepolia" ? { embedded: true, vrfKeys: SHARED_VRF_KEYS } : "embedded",
      ]),
    );
    writeFileSync(path.join(dataDir, "tyche.json"), JSON.stringify({ networks, pluginsDir: "presets" }));
    const started = await startTycheProcess({ dataDir });
    onCleanup(async () => {
      await started.stop();
      removeDataDir(dataDir);
    });
    return { ...started, pluginsDir };
  });

/** Returns a new dapp of a shared service, or the one that is named, with a new key. */
export async function joinService(service: SharedService, dappId?: string): Promise<SharedDapp> {
  const operator = connectOperator(service);
  const id = dappId ?? (await operator.createDapp({ name: `file ${randomUUID().slice(0, 8)}` })).id;
  const { apiKey } = await operator.addKey(id);
  return { ...service, dappId: id, apiKey, call: createCaller(service.url, apiKey) };
}
