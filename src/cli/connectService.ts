import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Option, type Command } from "commander";
import {
  createClient,
  createExplorer,
  type PresetValue,
  type TycheClient,
  type TycheExplorer,
} from "../client/index.ts";
import { isBaseUrl } from "../client/transport.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { findOutsideKey } from "../lib/outsideSecret.ts";
import { createCheckedClient, createCheckedExplorer } from "./checkedClient.ts";
import { dataDirOfEnvironment } from "./environment.ts";
import { UsageError } from "../lib/usageError.ts";

/** Parameters of any preset; only the service knows which presets exist. */
export type AnyPresets = Readonly<
  Record<string, { readonly params: Readonly<Record<string, unknown>>; readonly value: PresetValue }>
>;

export interface ServiceFlags {
  readonly url?: string;
  readonly dapp?: string;
}

/** A service, and the dapp on whose behalf it is called. */
export interface ServiceConnection {
  readonly client: TycheClient<AnyPresets>;
  readonly explorer: Pick<TycheExplorer, "transaction">;
  /** Absent if `TYCHE_API_KEY` identifies the dapp. */
  readonly dappId?: string;
}

/** Where the service listens by default. */
const DEFAULT_URL = "http://127.0.0.1:3000";
/** About two seconds: someone is waiting at the keyboard. */
const RETRIES = 3;

/** Adds the option that selects the service. */
export function withUrl(command: Command): Command {
  return command.addOption(
    new Option("--url <url>", "address of the service (default: the one running on this machine)").env(
      "TYCHE_URL",
    ),
  );
}

/** Adds the options that select the service and the dapp. */
export function withService(command: Command): Command {
  return withUrl(command).option(
    "--dapp <dapp>",
    "id or name of the dapp to call it for, from the local data directory (default: that of TYCHE_API_KEY, or the first)",
  );
}

/**
 * Connects to a service with a key of the dapp that `--dapp` names, else with the one in `TYCHE_API_KEY`, else with one of the first
 * dapp. Keys from the data directory are never sent to another machine.
 *
 * @throws {UsageError} when there is no key to use.
 */
export async function connectService({ url, dapp }: ServiceFlags): Promise<ServiceConnection> {
  const dataDir = dataDirOfEnvironment();
  const baseUrl = serviceUrl({ url });
  const given = process.env["TYCHE_API_KEY"];
  if (given && dapp === undefined) return connect(baseUrl, given);
  if (!isLoopbackHost(new URL(baseUrl).host))
    throw new UsageError(
      `${dapp === undefined ? "" : "leave --dapp out, and "}set TYCHE_API_KEY: keys from this data directory are not sent to ${new URL(baseUrl).host}`,
    );
  // Who names a service and no dapp means to call it, wherever it has its data.
  if (url !== undefined && dapp === undefined && !existsSync(dataDir))
    throw new UsageError(
      `set TYCHE_API_KEY to an API key of ${new URL(baseUrl).host}: there is no data directory ${dataDir} to take one from`,
    );
  const { openDappTools } = await import("../app/tools/dappTools.ts");
  const tools = await openDappTools(dataDir, findOutsideKey(process.env));
  try {
    const { id, name } = await tools.find(dapp);
    const apiKey = (await tools.dapps.keys(id)).find((key) => key.apiKey !== null)?.apiKey;
    if (!apiKey)
      throw new UsageError(
        `${name} (${id}) has no live API key; add one with tyche dapp add-key ${id}, or set TYCHE_API_KEY`,
      );
    return { ...connect(baseUrl, apiKey), dappId: id };
  } finally {
    await tools.close();
  }
}

/** Returns the service's address: the one given, that of the service on this machine, or the default. */
export function serviceUrl({ url }: { readonly url?: string | undefined }): string {
  const baseUrl = url ?? findServiceUrl(dataDirOfEnvironment()) ?? DEFAULT_URL;
  if (isBaseUrl(baseUrl)) return baseUrl;
  throw new UsageError(`${JSON.stringify(baseUrl)} is not an http or https URL such as ${DEFAULT_URL}`);
}

function connect(baseUrl: string, apiKey: string): ServiceConnection {
  const options = { baseUrl, apiKey, retries: RETRIES };
  const { origin } = new URL(baseUrl);
  return {
    client: createCheckedClient(createClient<AnyPresets>(options), origin),
    explorer: createCheckedExplorer(createExplorer(options), origin),
  };
}

/** Finds the address that a data directory's service listened on when it last started. */
export function findServiceUrl(dataDir: string): string | undefined {
  try {
    return readFileSync(path.join(dataDir, "service-url"), "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
