import { readFile, writeFile } from "node:fs/promises";
import { InvalidArgumentError, type Command } from "commander";
import type { Hex } from "viem";
import type { RequestVerification, Verification, VerificationStep } from "../verify/verification.ts";
import { TycheError } from "../lib/errors.ts";
import { dataDirOfEnvironment } from "./dappCommands.ts";
import { type Terminal, withoutControls } from "./terminal.ts";

interface VerifyFlags {
  readonly requestId?: Hex;
  readonly rpcUrl?: string;
  readonly contracts?: string;
  readonly save?: string;
  /** Absent without `--blocks` and `--no-blocks`. */
  readonly blocks?: boolean;
  readonly json?: true;
}

const HELP = `
The transaction can hold a request, a VRF proof (vrfv2Hash) or a report (url). The service is not asked: everything is read from a
node of the chain and computed here.

Examples:
  $ tyche verify sepolia 0x5f0c…
  $ tyche verify sepolia 0x5f0c… --request-id 0x91ab…
  $ tyche verify sepolia 0x5f0c… --rpc-url https://rpc.example.org --contracts published.json
  $ tyche verify sepolia 0x5f0c… --json | jq .valid

Exit code: 0 when every result is valid, 1 when one is invalid or still pending.`;

/** Longer values are shortened in the middle. */
const MAX_SHOWN = 140;

/** The implementation that the program's composition provides. */
export interface VerifyMeans {
  /** Checks a transaction without a service. */
  readonly verify: (options: {
    readonly network: string;
    readonly tx: Hex;
    readonly dataDir: string;
    /** Whether block hashes are recomputed; absent: as the network's blocks are known to be. */
    readonly hasEthereumBlocks?: boolean;
    readonly requestId?: Hex;
    readonly rpcUrl?: string;
    /** Content of the addresses file, not validated. */
    readonly contracts?: unknown;
    /** Called with the chain data that was read, as JSON. */
    readonly onChainData?: (json: string) => Promise<void>;
  }) => Promise<Verification>;
}

/** Adds `tyche verify`. */
export function registerVerify(program: Command, terminal: Terminal, { verify }: VerifyMeans): void {
  program
    .command("verify")
    .summary("Verifies a result using chain data only.")
    .description("Verifies the results of a transaction using chain data only.")
    .argument("<network>", "where the transaction is", parseNetwork)
    .argument("<tx>", "hash of the transaction", parseHash)
    .option("--request-id <id>", "check only this request, of functions or VRF", parseHash)
    .option("--rpc-url <url>", "node to ask (default: the one in the data directory)")
    .option("--contracts <file>", "JSON with the published addresses, as in GET /api/networks")
    .option("--save <file>", "write the chain data that was read, for the page of tyche verifier build")
    .option(
      "--blocks",
      "recompute block hashes (default: if the network's blocks are known to be Ethereum's)",
    )
    .option("--no-blocks", "don't recompute block hashes: for networks whose blocks are not Ethereum's")
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (network: string, tx: Hex, flags: VerifyFlags) => {
      const { requestId, rpcUrl, contracts, save, blocks } = flags;
      const found = await verify({
        network,
        tx,
        dataDir: dataDirOfEnvironment(),
        ...(blocks === undefined ? {} : { hasEthereumBlocks: blocks }),
        ...(requestId === undefined ? {} : { requestId }),
        ...(rpcUrl === undefined ? {} : { rpcUrl }),
        ...(contracts === undefined ? {} : { contracts: await readContracts(contracts) }),
        ...(save === undefined ? {} : { onChainData: (json: string) => writeFile(save, json) }),
      });
      if (flags.json) terminal.out(JSON.stringify(found, null, 2));
      else printVerification(found, terminal);
      if (!found.valid) process.exitCode = 1;
    });
}

function parseNetwork(text: string): string {
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(text)) throw new InvalidArgumentError("It must be a network's name.");
  return text;
}

function parseHash(text: string): Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new InvalidArgumentError("It must be 0x and 64 hex digits.");
  return text as Hex;
}

async function readContracts(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ContractsFileError(file);
  }
}

function printVerification(found: Verification, terminal: Terminal): void {
  const { out, colors } = terminal;
  for (const request of found.requests) printRequest(request, terminal);
  out(`\n${colors.bold("What these checks can't show")}`);
  for (const sentence of found.trust) out(`  – ${sentence}`);
  const { valid, verdict } = found;
  const count = `${found.requests.length} request${found.requests.length === 1 ? "" : "s"}`;
  out(
    `\n${valid ? colors.green("valid") : colors.red(verdict)}: ${count} of ${found.transactionHash} on ${found.network}`,
  );
}

function printRequest(request: RequestVerification, { out, colors }: Terminal): void {
  const { kind, requestId, transactions, result, err, randomNumber } = request;
  out(`\n${colors.bold(kind)}  ${requestId}`);
  for (const [part, hash] of Object.entries(transactions))
    if (hash !== null) out(colors.dim(`  ${part.padEnd(13)} ${hash}`));
  for (const step of request.steps) {
    out(`  ${markOf(step, colors)} ${step.name.padEnd(13)} ${withoutControls(step.detail)}`);
    for (const { what, expected, found } of step.compared) {
      const isSame = expected.toLowerCase() === found.toLowerCase();
      const line = isSame
        ? `${what}: ${shorten(found)}`
        : `${what}: ${shorten(found)}, expected ${shorten(expected)}`;
      out((isSame ? colors.dim : colors.red)(`      ${withoutControls(line)}`));
    }
  }
  if (randomNumber.length > 0)
    out(`  ${randomNumber.length === 1 ? "word" : "words"}   ${shorten(randomNumber.join(", "))}`);
  if (result !== null && err === "0x") out(`  result ${shorten(result)}`);
  if (err !== null && err !== "0x")
    out(`  error  ${withoutControls(Buffer.from(err.slice(2), "hex").toString())}`);
}

function markOf({ outcome }: VerificationStep, colors: Terminal["colors"]): string {
  if (outcome === "ok") return colors.green("✓");
  return outcome === "failed" ? colors.red("✗") : colors.yellow("–");
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN - 20)} … ${text.slice(-16)}`;
}

/** The addresses file is not valid JSON. */
export class ContractsFileError extends TycheError {
  constructor(file: string) {
    super(`${file} is not JSON; save the response of GET /api/networks to it`, {
      code: "invalid_parameter",
      blame: "caller",
    });
  }
}
