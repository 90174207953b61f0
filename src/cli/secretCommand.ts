import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { Writable } from "node:stream";
import { parseEnv } from "node:util";
import { Option, type Command } from "commander";
import type { SecretView } from "../client/index.ts";
import { SECRET_NAME } from "../domain/vocabulary.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { listOption } from "./listOption.ts";
import { chooseNetwork, withNetwork, type NetworkFlag } from "./networkOption.ts";
import { oneLine, type Terminal } from "./terminal.ts";
import { UsageError } from "../lib/usageError.ts";

interface Flags extends ServiceFlags, NetworkFlag {
  readonly json?: true;
}
interface SetFlags extends Flags {
  readonly file?: string;
  readonly envFile?: string;
  readonly allowHost: readonly string[];
  readonly expires?: string;
}

const NOTE = `
The value is asked for, or read from a file or standard input, and encrypted here: the service never sees it.`;

/** Adds `tyche secret …`. */
export function registerSecret(program: Command, terminal: Terminal): void {
  const { out, err, colors } = terminal;
  const secret = program
    .command("secret")
    .description("Manages a dapp's secrets, which its functions read as secrets.NAME.")
    .addHelpText("after", NOTE);
  const command = (usage: string, description: string): Command =>
    withNetwork(
      withService(secret.command(usage)).description(description).option("--json", "print JSON"),
      "network whose functions may read it",
    );
  const print = ({ json }: Flags, views: readonly SecretView[], lines: readonly string[]): void => {
    if (json) out(JSON.stringify(views, null, 2));
    else for (const line of lines) out(line);
  };
  const describe = ({
    name,
    network,
    size,
    changedAt,
    expiresAt,
    allowedHosts,
    outdated,
  }: SecretView): string => {
    const isExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
    const until = isExpired ? colors.red("  expired") : colors.yellow("  until");
    const end = expiresAt === null ? "" : `${until} ${expiresAt.slice(0, 19)}`;
    const hosts = allowedHosts?.length ? `  for ${oneLine(allowedHosts.join(", "))}` : "";
    const lost = outdated ? colors.red("  outdated: the nodes have another key, set it again") : "";
    return `${oneLine(name)}  ${network}  ${size} bytes  set ${changedAt.slice(0, 19)}${end}${hosts}${lost}`;
  };

  command("set [name]", "Sets a secret, or all in a file of NAME=value lines.")
    .addOption(
      new Option("--file <path>", "file with the value; - reads standard input").conflicts("envFile"),
    )
    .option("--env-file <path>", "file of NAME=value lines: sets each of them")
    .addOption(
      listOption(
        "--allow-host <host>",
        "host, or host:port, to which a source with it may send requests; may be repeated",
        "any",
      ),
    )
    .option("--expires <time>", "ISO 8601: after this no request can read it")
    .action(async (name: string | undefined, flags: SetFlags, its: Command) => {
      if ((name === undefined) === (flags.envFile === undefined))
        its.error("error: give the name of a secret, or --env-file");
      const values =
        name === undefined
          ? await readEnvFile(flags.envFile!)
          : [[name, await readValue(name, flags.file, terminal)] as const];
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const { allowHost, expires: expiresAt } = flags;
      const allowedHosts = allowHost.length === 0 ? undefined : allowHost;
      const views: SecretView[] = [];
      for (const [one, value = ""] of values)
        views.push(await client.secrets.set(one, { network, value, allowedHosts, expiresAt }));
      print(
        flags,
        views,
        views.map((view) => `set ${describe(view)}`),
      );
    });
  command("list", "Lists the names of secrets.").action(async (flags: Flags) => {
    const { network } = flags;
    const views = await (await connectService(flags)).client.secrets.list({ network });
    if (views.length === 0 && !flags.json) return err("no secrets");
    print(flags, views, views.map(describe));
  });
  command("delete <name>", "Deletes a secret, for requests in flight too.").action(
    async (name: string, flags: Flags) => {
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const view = await client.secrets.delete(name, { network });
      print(flags, [view], [`deleted ${oneLine(view.name)} on ${view.network}`]);
    },
  );
  command(
    "signer <address>",
    "Lets an account upload secrets for the dapp's subscription with functions-toolkit.",
  )
    .option(
      "--signature <hex>",
      "the account's signature of the message that the command asks for without it",
    )
    .action(async (address: string, flags: Flags & { readonly signature?: string }) => {
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const signer = await client.secrets.setSigner({ network, address, signature: flags.signature });
      if (flags.json) return out(JSON.stringify(signer, null, 2));
      out(
        `${signer.signer} may upload secrets for subscription ${signer.functionsSubscriptionId} on ${signer.network}`,
      );
    });
}

/** Reads a value from a file, standard input, or the keyboard, without its last line break. */
async function readValue(name: string, file: string | undefined, terminal: Terminal): Promise<string> {
  if (file !== undefined && file !== "-") return withoutLineBreak(await readFile(file, "utf8"));
  if (file === "-" || !process.stdin.isTTY) return withoutLineBreak(await text(process.stdin));
  if (!terminal.isTerminal)
    throw new UsageError(
      `nobody can be asked for the value of ${name}; give it with --file or on standard input`,
    );
  process.stderr.write(`value of ${oneLine(name)} (not shown): `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await lines.question("");
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}

/** A value in quotes, which may have several lines. */
const QUOTED = /^([^#=\n]*=[ \t]*)(["'`])([^]*?)\2/gm;

/** Reads NAME=value lines; all are checked before the first is set. */
async function readEnvFile(file: string): Promise<[string, string | undefined][]> {
  const content = await readFile(file, "utf8");
  const withoutQuoted = content.replaceAll(
    QUOTED,
    (_, start: string, _quote: string, value: string) => start + "\n".repeat(value.split("\n").length - 1),
  );
  withoutQuoted.split("\n").forEach((line, i) => {
    const [, name = ""] = /^\s*(?:export\s+)?([^=]*?)\s*=/.exec(line) ?? [];
    if (!SECRET_NAME.test(name) && !/^\s*(?:#|$)/.test(line))
      // The line isn't quoted: it may be part of a value.
      throw new UsageError(
        `${file}:${i + 1} is no NAME=value with a name of at most 100 letters, digits and _, and no digit first; put a value of several lines in quotes; nothing was set`,
      );
  });
  return Object.entries(parseEnv(content));
}

function withoutLineBreak(value: string): string {
  return value.replace(/\r?\n$/, "");
}
