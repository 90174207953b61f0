import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import { formatTime } from "../lib/time.ts";
import {
  BEACONS,
  FACILITIES,
  KEY_ACCESSES,
  MAX_DAILY_LIMIT,
  TIME_PATTERN,
  type Beacon,
  type Facility,
  type KeyAccess,
} from "../domain/vocabulary.ts";
import type { KeyView } from "../dapps/keys.ts";
import type { DappTools } from "../app/tools/dappTools.ts";
import type { StoredDapp } from "../dapps/findDapp.ts";

import { formatEnv } from "../dapps/configEnv.ts";
import { formatSampleConsumer, formatSampleFunctionsConsumer } from "../dapps/sampleConsumer.ts";
import type { ConfigVars } from "../dapps/configVars.ts";
import { findOutsideKey } from "../lib/outsideSecret.ts";
import { isUsableKey } from "../domain/usableKey.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import { ask } from "./ask.ts";
import { countOf } from "../lib/countOf.ts";
import { dataDirOfEnvironment } from "./environment.ts";
import { defaultNetwork, withNetwork, type NetworkFlag } from "./networkOption.ts";
import { withOverlap, type OverlapFlag } from "./overlapOption.ts";
import { wholeNumber } from "./parseNumber.ts";
import type { Terminal } from "./terminal.ts";

interface JsonFlag {
  readonly json?: true;
}

interface NewKeyFlags extends JsonFlag {
  readonly name?: string;
  readonly dailyLimit?: number;
  readonly access: KeyAccess;
  readonly expires?: number;
}
interface KeyFlags extends JsonFlag {
  readonly name?: string;
  readonly dailyLimit?: number | "none";
  readonly expires?: number | "never";
}

const CONFIG_NOTE = `
Without a dapp, it prints those of the first, which the first start created.`;

const REVOKE_NOTE = `
The key stops working at once, on a running service too. tyche dapp config lists the ids of keys.`;

const DELETE_NOTE = `
Requests in progress still complete; shared results and usage totals remain. A running service unlinks the contracts.`;

/** Adds `tyche dapp create`, `rename`, `facilities`, `beacon`, `delete`, `list`, `config`, `contract`, `add-key`, `change-key`, `rotate-key` and `revoke-key`. They work beside a running service. */
export function registerDapp(program: Command, terminal: Terminal): void {
  const dapp = program.command("dapp").description("Creates dapps, shows their Config Vars, revokes keys.");

  dapp
    .command("create")
    .argument("<name>", "what to call it")
    .addOption(
      new Option("--facility <facilities...>", "what it may use").choices(FACILITIES).default(FACILITIES),
    )
    .option("--json", "print JSON")
    .description(
      "Creates a dapp with an API key. A running service creates its subscriptions within a second.",
    )
    .action((name: string, flags: JsonFlag & { readonly facility: readonly Facility[] }) =>
      withTools(async ({ dapps }) => {
        const { dapp, key } = await dapps.create(name, flags.facility);
        if (flags.json)
          terminal.out(JSON.stringify({ dappId: dapp.id, name, keyId: key.id, apiKey: key.apiKey }, null, 2));
        else terminal.out(`dapp     ${dapp.id}\nAPI key  ${key.apiKey}`);
      }),
    );

  dapp
    .command("rename")
    .argument("<dapp>", "id or name of the dapp")
    .argument("<name>", "what to call it")
    .description("Renames a dapp. Its keys and subscriptions stay as they are.")
    .action((named: string, name: string) =>
      withDapp(named, async ({ dapps }, { id }) => {
        const renamed = await dapps.change(id, { name });
        terminal.out(`${id} is now ${renamed.name}`);
      }),
    );

  dapp
    .command("facilities")
    .argument("<dapp>", "id or name of the dapp")
    .addArgument(new Argument("<facilities...>", "what it may use from now on").choices(FACILITIES))
    .description("Sets what a dapp may use: presets, which include random numbers, functions, or both.")
    .action((named: string, facilities: readonly Facility[]) =>
      withDapp(named, async ({ dapps }, { id }) => {
        const changed = await dapps.change(id, { facilities });
        terminal.out(`${id} may use ${changed.facilities.join(" and ")}`);
      }),
    );

  dapp
    .command("beacon")
    .argument("<dapp>", "id or name of the dapp")
    .addArgument(new Argument("<beacon>", "what its presets wait for").choices([...BEACONS, "default"]))
    .description(
      "Sets what a dapp's presets wait for where a call doesn't say it: a round of drand, none, or what the network says by default.",
    )
    .action((named: string, beacon: Beacon | "default") =>
      withDapp(named, async ({ dapps }, { id }) => {
        await dapps.change(id, { beacon: beacon === "default" ? null : beacon });
        terminal.out(`${id} waits for ${beacon === "default" ? "what the network says" : beacon}`);
      }),
    );

  dapp
    .command("delete")
    .argument("<dapp>", "id or name of the dapp")
    .option("--yes", "don't ask")
    .description("Deletes a dapp permanently: its keys stop working at once, and its contracts are unlinked.")
    .addHelpText("after", DELETE_NOTE)
    .action((named: string, { yes = false }: { readonly yes?: boolean }) =>
      withDapp(named, async ({ dapps }, { id, name }) => {
        const live = (await dapps.keys(id)).filter(({ revokedAt }) => revokedAt === null).length;
        const question = `Delete ${name} permanently? ${countOf(live, "API key")} will stop working, and its contracts will be unlinked.`;
        if (!yes && !(await ask(question, terminal))) {
          terminal.out("nothing was deleted");
          process.exitCode = 1;
          return;
        }
        await dapps.delete(id);
        terminal.out(`${id} (${name}) is deleted`);
      }),
    );

  dapp
    .command("list")
    .option("--json", "print JSON")
    .description("Lists the dapps.")
    .action(({ json }: JsonFlag) =>
      withTools(async ({ dapps }) => {
        const list = await dapps.list();
        if (json) terminal.out(JSON.stringify(list, null, 2));
        else
          for (const { id, name, facilities } of list)
            terminal.out(`${id}  ${name.padEnd(16)}  ${facilities.join(", ")}`);
      }),
    );

  dapp
    .command("config")
    .argument("[dapp]", "id or name of the dapp; default: the first")
    .option("--json", "print JSON")
    .option("--env", "print an .env file, with a live API key")
    .description(
      "Prints a dapp's config vars: its API keys and, for each network, the values to deploy a contract with (subscription ids, addresses, key hash, DON id, chain id, RPC URL).",
    )
    .addHelpText("after", CONFIG_NOTE)
    .action((named: string | undefined, { json, env }: JsonFlag & { readonly env?: true }) =>
      withDapp(named, async (tools, { id }) => {
        const vars = await tools.configVars(id);
        if (json) terminal.out(JSON.stringify(vars, null, 2));
        else if (env) terminal.out(formatEnv(vars));
        else printConfigVars(vars, terminal);
      }),
    );

  withNetwork(dapp.command("contract"), "network where you will deploy it")
    .argument("[dapp]", "id or name of the dapp; default: the first")
    .option("--functions", "one that runs JavaScript; default: one that draws random words")
    .description("Prints a sample consumer contract in Solidity, with the dapp's values filled in.")
    .action((named: string | undefined, flags: NetworkFlag & { readonly functions?: true }) =>
      withDapp(named, async (tools, { id }) => {
        const { dappId, networks } = await tools.configVars(id);
        const network = flags.network ?? defaultNetwork(networks.map((one) => one.network));
        const vars = networks.find((one) => one.network === network);
        if (vars === undefined)
          throw new InvalidParameterError([
            {
              path: "/network",
              message: `must be one of ${networks.map((one) => one.network).join(", ")}; got ${JSON.stringify(network)}`,
            },
          ]);
        const format = flags.functions ? formatSampleFunctionsConsumer : formatSampleConsumer;
        terminal.out(format(dappId, vars).trimEnd());
      }),
    );

  registerKeys(dapp, terminal);
}

function registerKeys(dapp: Command, terminal: Terminal): void {
  dapp
    .command("keys")
    .argument("[dapp]", "id or name of the dapp; default: the first")
    .option("--json", "print JSON")
    .description("Lists a dapp's API keys, without their values: tyche dapp config prints those.")
    .action((named: string | undefined, { json }: JsonFlag) =>
      withDapp(named, async ({ dapps }, { id }) => {
        const keys = await dapps.keys(id);
        if (json) terminal.out(JSON.stringify(keys.map(maskKey), null, 2));
        else for (const key of keys) terminal.out(describeKey(key, terminal));
      }),
    );

  dapp
    .command("add-key")
    .argument("<dapp>", "id or name of the dapp")
    .option("--name <name>", "what to call the key")
    .option(
      "--daily-limit <n>",
      "most requests it may make in a day (UTC); default: no limit",
      wholeNumber(1, MAX_DAILY_LIMIT),
    )
    .addOption(
      new Option("--access <access>", "what calls with it may do: read (GET alone) or full")
        .choices(KEY_ACCESSES)
        .default("full"),
    )
    .option("--expires <time>", "ISO 8601, such as 2026-12-31T23:59:59Z; default: never", parseTime)
    .option("--json", "print JSON")
    .description("Creates another API key for a dapp.")
    .action((named: string, { json, expires: expiresAt, ...options }: NewKeyFlags) =>
      withDapp(named, async ({ dapps }, { id }) => {
        const key = await dapps.addKey(id, { ...options, expiresAt });
        terminal.out(json ? JSON.stringify(key, null, 2) : `key      ${key.id}\nAPI key  ${key.apiKey}`);
      }),
    );

  dapp
    .command("change-key")
    .argument("<keyId>", "id of the key, not the key itself")
    .option("--name <name>", "what to call the key")
    .option("--daily-limit <n>", 'most requests it may make in a day (UTC), or "none"', (text) =>
      text === "none" ? text : wholeNumber(1, MAX_DAILY_LIMIT)(text),
    )
    .option("--expires <time>", 'ISO 8601, such as 2026-12-31T23:59:59Z, or "never"', (text) =>
      text === "never" ? text : parseTime(text),
    )
    .option("--json", "print JSON")
    .description("Changes the name, daily limit or expiry of an API key. The key itself stays the same.")
    .action((keyId: string, { json, ...flags }: KeyFlags) =>
      withTools(async ({ dapps }) => {
        const { name, dailyLimit: limit, expires } = flags;
        if (Object.keys(flags).length === 0)
          throw new InvalidParameterError([{ path: "", message: "give --name, --daily-limit or --expires" }]);
        const dailyLimit = limit === "none" ? null : limit;
        const expiresAt = expires === "never" ? null : expires;
        const key = await dapps.changeKey(keyId, { name, dailyLimit, expiresAt });
        const most = key.dailyLimit === null ? "no daily limit" : `at most ${key.dailyLimit} requests a day`;
        const end = key.expiresAt === null ? "" : `, expires ${formatTime(key.expiresAt)}`;
        terminal.out(
          json
            ? JSON.stringify({ ...key, apiKey: undefined }, null, 2)
            : `${keyId} is ${key.name || "unnamed"}, ${most}${end}`,
        );
      }),
    );

  withOverlap(dapp.command("rotate-key"))
    .argument("<keyId>", "id of the key, not the key itself")
    .option("--json", "print JSON")
    .description("Gives an API key a new value; for a while the present one stays valid, too.")
    .action((keyId: string, { json, overlapHours }: JsonFlag & OverlapFlag) =>
      withTools(async ({ dapps }) => {
        const key = await dapps.rotateKey(keyId, { overlapHours });
        const { previousUntil: until } = key;
        const former = until === null ? "is valid no more" : `is valid until ${formatTime(until)}`;
        terminal.out(
          json ? JSON.stringify(key, null, 2) : `API key  ${key.apiKey}\nthe former value ${former}`,
        );
      }),
    );

  dapp
    .command("revoke-key")
    .argument("<keyId>", "id of the key, not the key itself")
    .description("Revokes an API key.")
    .addHelpText("after", REVOKE_NOTE)
    .action((keyId: string) =>
      withTools(async ({ dapps }) => {
        await dapps.revokeKey(keyId);
        terminal.out(`${keyId} is revoked`);
      }),
    );
}

/** Shows enough of a key to tell it from others. */
function maskKey(key: KeyView) {
  return { ...key, apiKey: key.apiKey === null ? null : `${key.apiKey.slice(0, 10)}…` };
}

function describeKey(key: KeyView, { colors }: Terminal): string {
  const { id, name, apiKey } = maskKey(key);
  const facts = [
    key.access === "read" ? "read only" : "full access",
    ...(key.dailyLimit === null ? [] : [`${key.requestsToday} of ${key.dailyLimit} requests today`]),
    key.lastUsedAt === null ? "never used" : `last used ${formatTime(key.lastUsedAt)}`,
    ...(key.previousUntil === null ? [] : [`former value valid until ${formatTime(key.previousUntil)}`]),
    ...(key.revokedAt === null && key.expiresAt !== null
      ? [`${isUsableKey(key) ? "expires" : "expired"} ${formatTime(key.expiresAt)}`]
      : []),
    ...(key.revokedAt === null ? [] : [`revoked ${formatTime(key.revokedAt)}`]),
  ];
  const line = `${id}  ${(apiKey ?? "").padEnd(11)}  ${name.padEnd(16)}  ${facts.join(", ")}`;
  return isUsableKey(key) ? line : colors.dim(line);
}

export async function withTools(work: (tools: DappTools) => Promise<void>): Promise<void> {
  const { openDappTools } = await import("../app/tools/dappTools.ts");
  const tools = await openDappTools(dataDirOfEnvironment(), findOutsideKey(process.env));
  try {
    await work(tools);
  } finally {
    await tools.close();
  }
}

/** Works on the dapp with this id or name; without either, on the first. */
function withDapp(
  named: string | undefined,
  work: (tools: DappTools, dapp: StoredDapp) => Promise<void>,
): Promise<void> {
  return withTools(async (tools) => work(tools, await tools.find(named)));
}

function printConfigVars(vars: ConfigVars, { out, colors }: Terminal): void {
  out(`${colors.bold(vars.name)}  ${vars.dappId}  (${vars.facilities.join(", ")})`);
  for (const key of vars.keys) {
    const { id, name, apiKey, revokedAt, expiresAt, access } = key;
    const value = revokedAt === null ? apiKey : `revoked ${formatTime(revokedAt)}`;
    const more = [
      ...(name === "" ? [] : [name]),
      ...(access === "read" ? ["read only"] : []),
      ...(revokedAt === null && expiresAt !== null
        ? [`${isUsableKey(key) ? "expires" : "expired"} ${formatTime(expiresAt)}`]
        : []),
    ];
    const line = ["", id, value, ...more].join("  ");
    out(isUsableKey(key) ? line : colors.dim(line));
  }
  for (const one of vars.networks) {
    const { network, vrfSubscriptionId, functionsSubscriptionId, contracts, consumers } = one;
    out(`\n${colors.bold(network)}`);
    out(`  chain id                ${one.chainId}`);
    out(`  RPC URL                 ${one.rpcUrl ?? "known once the service has run"}`);
    out(`  VRF key hash            ${one.keyHash ?? "known once the service has run"}`);
    out(`  DON id                  ${one.donId}  ${one.donIdBytes32}`);
    out(`  VRF subscription        ${vrfSubscriptionId ?? "created when the service runs"}`);
    out(`  Functions subscription  ${functionsSubscriptionId ?? "created when the service runs"}`);
    for (const [name, address] of Object.entries(contracts)) out(`  ${name.padEnd(22)}  ${address}`);
    for (const address of consumers) out(`  consumer                ${address}`);
  }
}

function parseTime(text: string): number {
  const at = new RegExp(TIME_PATTERN).test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError("It must be a time such as 2026-12-31T23:59:59Z.");
  return at;
}
