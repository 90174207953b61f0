import { readFile } from "node:fs/promises";
import type { Hex } from "viem";
import { text } from "node:stream/consumers";
import { Argument, type Command, Option } from "commander";
import {
  FunctionFailedError,
  type FunctionResult,
  type Outcome,
  type PresetResult,
  type RandomResult,
  type ReturnType,
  type ShownResult,
  type Submitted,
  type TycheClient,
} from "../client/index.ts";
import { BEACONS, RETURN_TYPES, type Beacon } from "../domain/vocabulary.ts";
import { findFailedPlace } from "../text/failure.ts";
import { connectService, withService, type ServiceFlags } from "./connectService.ts";
import { listOption } from "./listOption.ts";
import { chooseNetwork, withNetwork, type NetworkFlag } from "./networkOption.ts";
import { wholeNumber } from "./parseNumber.ts";
import { parseTypedParam, readPresetParams, type TypedParams } from "./presetParams.ts";
import { findShown, printEvent, printOutcome, printPlace, withWaits } from "./outcome.ts";
import { type Terminal, withoutControls } from "./terminal.ts";

interface CallFlags extends ServiceFlags, NetworkFlag {
  readonly idempotencyKey?: string;
  readonly label?: string;
  readonly once?: true;
  readonly json?: true;
  readonly async?: true;
}

interface ConfirmationsFlag {
  readonly confirmations?: number;
}

interface BeaconFlag {
  readonly beacon?: Beacon;
}
const CONFIRMATIONS = [
  "--confirmations <number>",
  "blocks to wait before the words are drawn",
  wholeNumber(0),
] as const;

const NOTE = `
The service is the one that runs on this machine, or that of --url (TYCHE_URL); the key is one of the data directory, or TYCHE_API_KEY.
Exit code: 0 when there is a result, 1 otherwise.`;

/** Adds `tyche call PRESET`, `call random` and `call run`: requests to a running service. */
export function registerCall(program: Command, terminal: Terminal): void {
  const call = program.command("call").summary("Calls a preset, draws random numbers, runs a function.");
  withCall(call)
    .description("Calls a running service and waits for the result.")
    .usage(
      "<preset> [name=value...] [options]\n       tyche call random [options]\n       tyche call run <file> [options]",
    )
    .argument("<preset>", "name of a preset")
    .addArgument(
      new Argument(
        "[parameters...]",
        "its parameters, name=value; for a list, repeat the name for each entry",
      )
        .default([], "none")
        .argParser(collectParam),
    )
    .addHelpText("after", NOTE)
    .option(...CONFIRMATIONS)
    .addOption(beaconOption("the word also follows from; default: what the dapp says, or the network"))
    .action(async (name: string, typed: TypedParams, flags: CallFlags & ConfirmationsFlag & BeaconFlag) => {
      const { client } = await connectService(flags);
      const preset = (await client.presets()).find((one) => one.name === name);
      const params = readPresetParams(typed, preset);
      const network = await chooseNetwork(client, flags);
      const { idempotencyKey, confirmations, beacon, label, once } = flags;
      const options = { network, confirmations, beacon, label, once, idempotencyKey };
      await finish(await client.submit.preset(name, params, options), flags, { client, terminal });
    });

  withCall(call.command("random"))
    .description("Draws random numbers.")
    .option("--words <number>", "how many", wholeNumber(0), 1)
    .option(...CONFIRMATIONS)
    .addOption(
      listOption(
        "--key-hash <hash>",
        "a VRF key; repeat it up to 4 times to join the words of several keys",
        "the network's first",
      ),
    )
    .allowExcessArguments()
    .action(async (_flags: object, command: Command) => {
      refuseOption(command, "beacon");
      const [unexpected] = command.args;
      if (unexpected !== undefined) {
        const words = /^numWords=(\d+)$/.exec(unexpected)?.[1] ?? "2";
        command.error(
          `error: call random takes no ${unexpected}; options say what is drawn, such as --words ${words}`,
        );
      }
      const flags = command.optsWithGlobals<
        CallFlags & ConfirmationsFlag & { words: number; keyHash: readonly Hex[] }
      >();
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const { words: numWords, confirmations, keyHash, idempotencyKey, label, once } = flags;
      const keyHashes = keyHash.length === 0 ? undefined : keyHash;
      const params = { network, numWords, confirmations, keyHashes, label, once };
      await finish(await client.submit.random(params, { idempotencyKey }), flags, { client, terminal });
    });

  withCall(call.command("run"))
    .description("Runs a source on the oracle network.")
    .argument("<file>", "JavaScript or TypeScript source; - reads standard input")
    .addOption(listOption("--arg <text>", "an argument, args[0] first; may be repeated"))
    .addOption(
      listOption("--secret <name>", "a secret of the dapp that the source may read; may be repeated"),
    )
    .addOption(
      new Option("--return-type <type>", "how the result is read").choices(RETURN_TYPES).default("string"),
    )
    .addOption(beaconOption("the last of bytesArgs is a word of; default: none"))
    .allowExcessArguments()
    .action(async (file: string, _flags: object, command: Command) => {
      const [, unexpected] = command.args;
      if (unexpected !== undefined)
        command.error(
          `error: call run takes no ${unexpected} after the file; give arguments as --arg ${unexpected}`,
        );
      const flags = command.optsWithGlobals<
        CallFlags & BeaconFlag & { arg: string[]; secret: string[]; returnType: ReturnType }
      >();
      // `call` itself takes it, for presets.
      refuseOption(command, "confirmations");
      const source = file === "-" ? await text(process.stdin) : await readFile(file, "utf8");
      const { client } = await connectService(flags);
      const network = await chooseNetwork(client, flags);
      const { idempotencyKey, label, once, arg: args, secret, returnType, beacon } = flags;
      const secrets = secret.length === 0 ? undefined : secret;
      const params = { network, source, args, secrets, returnType, beacon, label, once };
      try {
        if (flags.async)
          return await finish(await client.submit.runFunction(params, { idempotencyKey }), flags, {
            client,
            terminal,
          });
        // Waits for the dry run, which tells where a source fails; a request that is followed ends with only the
        // reason.
        const result = await client.runFunction(params, { idempotencyKey });
        print(result, flags, terminal);
        if (!flags.json)
          printPlace(source, findFailedPlace(source, { error: null, outcome: result }), terminal);
      } catch (error) {
        if (error instanceof FunctionFailedError) printRefusal(error, { file, source, terminal });
        else throw error;
      }
    });
}

function beaconOption(use: string): Option {
  return new Option("--beacon <name>", `a future round of drand that ${use}`).choices(BEACONS);
}

/** Refuses an option that `call` takes for presets only. */
function refuseOption(command: Command, name: string): void {
  if (command.optsWithGlobals<Record<string, unknown>>()[name] !== undefined)
    command.error(`error: unknown option '--${name}'`);
}

function withCall(command: Command): Command {
  return withNetwork(withService(command), "network to run on")
    .option(
      "--idempotency-key <key>",
      "makes the call safe to repeat: the same key identifies the same request",
    )
    .option("--label <text>", "what the request is for, on chain with it for all to see")
    .option("--once", "refuse the call if another request of the dapp has the label, and each later one")
    .option("--async", "print the request's id and don't wait")
    .option("--json", "print one JSON object");
}

/** Follows a request to its end, and prints its result. */
async function finish<Result extends PresetResult | RandomResult | FunctionResult>(
  submitted: Submitted<Result>,
  flags: CallFlags,
  { client, terminal }: { readonly client: Pick<TycheClient, "request">; readonly terminal: Terminal },
): Promise<void> {
  const { id } = submitted;
  if (flags.async) {
    terminal.out(flags.json ? JSON.stringify({ id }) : id);
    return;
  }
  const isFollowed = terminal.isTerminal && !flags.json;
  const events = submitted.stream();
  for await (const event of isFollowed ? withWaits(events, { client, id }, terminal) : events) {
    if (event.type === "state") {
      if (isFollowed) printEvent(event, terminal);
      continue;
    }
    const { result } = event;
    print(result, flags, terminal, flags.json ? undefined : await findShown(result, { client, id }));
  }
}

function print(outcome: Outcome, { json }: CallFlags, terminal: Terminal, shown?: ShownResult): void {
  if (json) terminal.out(JSON.stringify(outcome));
  else printOutcome(outcome, terminal, shown);
  if (!outcome.success) process.exitCode = 1;
}

function printRefusal(
  { message, console, details, line, column = 1, dryRunUrl }: FunctionFailedError,
  { file, source, terminal }: { readonly file: string; readonly source: string; readonly terminal: Terminal },
): void {
  const { err, colors } = terminal;
  const written = withoutControls(console).trimEnd();
  if (written !== "") err(colors.dim(written.replaceAll(/^/gm, "  ")));
  err(`${colors.red("failed:")} ${withoutControls(message)}`);
  for (const detail of details) err(`  ${withoutControls(detail.message)}`);
  if (line !== undefined) {
    err(colors.dim(`  at ${file === "-" ? "standard input" : file}:${line}:${column}`));
    printPlace(source, { line, column }, terminal);
  }
  if (dryRunUrl !== undefined) err(colors.dim(withoutControls(dryRunUrl)));
  process.exitCode = 1;
}

function collectParam(text: string, previous: TypedParams): TypedParams {
  return [...previous, parseTypedParam(text)];
}
