import type { Verification, RequestVerification } from "../api/types.ts";
import { readFile, writeFile } from "node:fs/promises";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { Hex } from "viem";
import type { verifyWithTool } from "../app/tools/verifyTool.ts";
import { dataDirOfEnvironment } from "./environment.ts";
import { parseBlock } from "./parseNumber.ts";
import { parseRpcUrl } from "./parseRpcUrl.ts";
import { createExplorer, NotFoundError } from "../client/index.ts";
import { isId } from "../domain/idForm.ts";
import { findResultAddress, findShared } from "../domain/resultAddress.ts";
import { createCheckedExplorer } from "./checkedClient.ts";
import { findServiceUrl, serviceUrl } from "./connectService.ts";
import { isQuicknet, nameBeacon, UNKNOWN_PRESET } from "../text/draw.ts";
import { describeDifference, parseEntries, parseList } from "../text/entryLists.ts";
import { canonicalLabel, findLabelProblem, isProven } from "../domain/label.ts";
import { worstVerdict } from "../domain/verdicts.ts";
import { readText } from "./readText.ts";
import { oneLine, type Terminal } from "./terminal.ts";
import { UsageError } from "../lib/usageError.ts";

interface VerifyFlags {
  readonly requestId?: Hex;
  readonly rpcUrl?: string;
  readonly contracts?: string;
  readonly save?: string;
  readonly expect?: readonly Expectation[];
  readonly receipt?: string;
  readonly fromBlock?: bigint;
  readonly toBlock?: bigint;
  /** Absent without `--blocks` and `--no-blocks`. */
  readonly blocks?: boolean;
  readonly verbose?: true;
  readonly quiet?: true;
  readonly json?: true;
}

const HELP = `
The transaction can hold a request, a VRF proof (vrfv2Hash) or a report (url). A label is looked for on the chain. Everything is read from a node of the chain and
computed here. Only of a result's address, such as https://tyche.example.org/r/req_…, its service is asked which transaction it is;
\`tyche verify https://tyche.example.org/r/req_…\` needs no network. Where this is not the service of the data directory, node and addresses are those
that it publishes, which the verdict says, unless you pass --rpc-url or --contracts.

Exit code: 0 when every result is valid. Otherwise 1: a result is not valid, is not confirmed because its source could not give it again
(the source uses HTTP, for example), is valid only if the contracts are the operator's (pass --contracts), isn't there yet, or is
something other than expected, or than the receipt says.`;

/** Adds `tyche verify`. */
export function registerVerify(
  program: Command,
  terminal: Terminal,
  verify: typeof verifyWithTool = async (options) =>
    (await import("../app/tools/verifyTool.ts")).verifyWithTool(options),
): void {
  program
    .command("verify")
    .summary("Verifies a result using chain data only.")
    .description("Verifies the results of a transaction using chain data only.")
    .usage("[options] <network> <tx>")
    .argument(
      "<network>",
      "where the transaction is; not needed with the address or the id of a result, or with the `url` of an answer",
      parseFirst,
    )
    .argument(
      "[tx]",
      "hash of the transaction, its address in an explorer, that of a result (/r/…) or its id (req_…), or the label of a request",
      parseWhich,
    )
    .option(
      "--request-id <id>",
      "check only this request: a preset, a function, or all of a VRF request",
      parseHash,
    )
    .option("--rpc-url <url>", "node to ask (default: the one in the data directory)", parseRpcUrl)
    .option(
      "--contracts <json>",
      "the published addresses, as in GET /api/networks: a file, or the JSON itself",
    )
    .option(
      "--expect <what>",
      "exit with 1 unless each request is of this: label=TEXT, and the first with it; dapp=ID; preset=NAME; source=@FILE or source=HASH, its keccak256; beacon=drand, a round of its quicknet; list=@FILE with a preset's entries; may be repeated",
      collectExpectation,
    )
    .option(
      "--receipt <file>",
      "exit with 1 unless this is the request of an answer that you kept, as the API gave it: JSON of a 202, or of a result",
    )
    .option(
      "--from-block <number>",
      "look for other requests with the label from this block on (default: 0), to go on where an earlier search ended",
      parseBlock,
    )
    .option("--to-block <number>", "look for them up to this block (default: the newest)", parseBlock)
    .option("--save <file>", "write the chain data that was read, for the page of tyche verifier build")
    .option(
      "--blocks",
      "recompute block hashes (default: if the network's blocks are known to be Ethereum's)",
    )
    .option("--no-blocks", "don't recompute block hashes: for networks whose blocks are not Ethereum's")
    .option("--verbose", "print also the transactions, what each step compared, and the result's bytes")
    .addOption(
      new Option(
        "--quiet",
        "print only the verdict, why it isn't valid or as expected, and the results",
      ).conflicts(["verbose", "json"]),
    )
    .option("--json", "print JSON")
    .addHelpText("after", HELP)
    .action(async (first: string | Alone, given: Which | undefined, flags: VerifyFlags) => {
      const { network, which, requestId = flags.requestId, service } = await findTransaction(first, given);
      const { rpcUrl, contracts, save, blocks, expect = [], fromBlock, toBlock } = flags;
      const isBelieved = service !== undefined && rpcUrl === undefined && !isOwn(service);
      // What other commands needn't load.
      const { checkReceipt, readReceipt } = await import("./receipt.ts");
      const receipt = flags.receipt === undefined ? undefined : await readReceipt(flags.receipt);
      const verified = await verify({
        network,
        which,
        dataDir: dataDirOfEnvironment(),
        labelSearch: { fromBlock, toBlock },
        ...(blocks === undefined ? {} : { hasEthereumBlocks: blocks }),
        ...(requestId === undefined ? {} : { requestId }),
        ...(rpcUrl === undefined ? {} : { rpcUrl }),
        ...(contracts === undefined ? {} : { contracts: await readContracts(contracts) }),
        ...(isBelieved
          ? { service: { origin: new URL(service).origin, networks: () => exploreAt(service).networks() } }
          : {}),
        ...(save === undefined ? {} : { onChainData: (json: string) => writeFile(save, json) }),
      });
      const labelled = typeof which === "string" ? verified : onlyLabelled(verified, which.label);
      const believed = isBelieved
        ? `${contracts === undefined ? "the addresses and the node" : "the node"} of the service at ${new URL(service).origin}`
        : undefined;
      // Whoever sends a link would otherwise decide which contracts are genuine.
      const isNamedByLink = isBelieved && contracts === undefined && process.env["TYCHE_URL"] === undefined;
      const judged = isNamedByLink ? withoutOperator(labelled) : labelled;
      const found = { ...judged, trust: [...trustInService(believed), ...judged.trust] };
      const checked = receipt === undefined ? undefined : await checkReceipt(receipt, found);
      const unexpected = (checked?.problems ?? []).map((problem) => `not as the receipt says: ${problem}`);
      for (const request of found.requests)
        for (const expectation of expect) {
          const problem = await findUnexpected(expectation, request);
          if (problem === undefined) continue;
          const which = found.requests.length === 1 ? "" : ` (${request.kind} ${request.requestId})`;
          unexpected.push(`not as expected: ${problem}${which}`);
        }
      const valid = found.valid && unexpected.length === 0;
      if (!valid) process.exitCode = 1;
      if (flags.json) {
        terminal.out(JSON.stringify({ ...found, valid, unexpected }, null, 2));
        for (const problem of unexpected) terminal.err(oneLine(problem));
      } else {
        const { printVerification, readPresetResults } = await import("./printVerification.ts");
        const shown = await readPresetResults(found);
        const { verbose: isVerbose = false, quiet: isQuiet = false } = flags;
        printVerification(found, terminal, { isVerbose, isQuiet, unexpected, shown, believed });
      }
      const isAnyDapp =
        expect.some(({ what }) => what === "label") && expect.every(({ what }) => what !== "dapp");
      const dapps = isAnyDapp ? found.requests.flatMap(({ label }) => label?.dapp ?? []) : [];
      for (const dapp of new Set(dapps))
        terminal.err(
          oneLine(
            `warning: any dapp can use this label; if it was ${dapp} that announced the draw, add --expect dapp=${dapp}`,
          ),
        );
      if (checked?.problems.length === 0)
        terminal.err(oneLine(`as the receipt says: ${checked.agreed.join(", ")}`));
    });
}

/** Leaves out the other requests of a transaction: a draw may share it with any. */
function onlyLabelled(found: Verification, label: string): Verification {
  const requests = found.requests.filter((one) => one.label?.label === canonicalLabel(label));
  if (requests.length === 0) return found;
  const verdict = worstVerdict(requests);
  return { ...found, valid: verdict === "valid", verdict, requests };
}

/** Returns what a verification shows to those who don't know yet whose contracts these are. */
function withoutOperator(found: Verification): Verification {
  const requests = found.requests.map((one) =>
    one.verdict === "valid" ? { ...one, verdict: "conditional" as const } : one,
  );
  const verdict = found.verdict === "valid" ? "conditional" : found.verdict;
  return { ...found, valid: false, verdict, requests };
}

/** Says what was believed of a service that nobody but the link named. */
function trustInService(believed: string | undefined): string[] {
  if (believed === undefined) return [];
  return [
    `This was verified with ${believed}, which could show contracts and a chain of its own: compare with what the operator publishes elsewhere, and pass --contracts and --rpc-url.`,
  ];
}

/** What names a transaction without its network. */
type Alone = OfService | { readonly network: string; readonly hash: Hex; readonly origin: string };

/** Parses what may be a network's name or, in its place, a result of the service, which knows the network, or a transaction in its explorer. */
function parseFirst(text: string): string | Alone {
  const address = findResultAddress(text) ?? findOfService(text);
  if (address === undefined) return text.trim();
  if ("id" in address) return address;
  const { network, hash, origin } = address;
  if (network !== undefined) return { network, hash, origin };
  throw new InvalidArgumentError(
    `It must be a network's name, and then comes the transaction: tyche verify <network> ${text}`,
  );
}

function parseHash(text: string): Hex {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new InvalidArgumentError("It must be 0x and 64 hex digits.");
  return text as Hex;
}

/** What names a transaction: its hash, a label of a request in it, or the page of its result. */
type Which = Hex | { readonly label: string } | OfService;

/** A result of a service: of the one that is asked, unless an origin is given. */
interface OfService {
  readonly id: string;
  readonly origin?: string;
}

function findOfService(text: string): OfService | undefined {
  const id = text.trim();
  if (isId("req", id)) return { id };
  const address = findResultAddress(text);
  return address !== undefined && "id" in address ? address : undefined;
}

function parseWhich(text: string): Which {
  const address = findResultAddress(text) ?? findOfService(text);
  if (address !== undefined) return "hash" in address ? address.hash : address;
  if (/^0x/i.test(text)) return parseHash(text);
  const problem = URL.canParse(text) && text.includes("://") ? "" : findLabelProblem(text);
  if (problem === undefined) return { label: text };
  throw new InvalidArgumentError(
    problem === ""
      ? "It must be a transaction's address, which ends in /tx/ and its hash, or a result's, which ends in /r/ and its id."
      : `It must be 0x and 64 hex digits, or a label, and a label ${problem}.`,
  );
}

/** Asks the service, of a result's page, which request of which transaction it is; nothing else that it says is used. */
async function findTransaction(
  first: string | Alone,
  given: Which | undefined,
): Promise<{
  readonly network: string;
  readonly which: Hex | { readonly label: string };
  readonly requestId?: Hex;
  /** Address of the service whose result it is, if it was named by one. */
  readonly service: string | undefined;
}> {
  const network = typeof first === "string" ? first : "network" in first ? first.network : undefined;
  const which = typeof first === "string" ? given : "network" in first ? first.hash : first;
  const isNamed = typeof first !== "string" || /^[a-z][a-z0-9_]{0,31}$/.test(first);
  if (which === undefined || !isNamed || (typeof first !== "string" && given !== undefined)) {
    const problem = isNamed ? "a result is named twice" : `${JSON.stringify(first)} is no network's name`;
    throw new UsageError(
      `${which === undefined ? `${JSON.stringify(first)} alone names no result` : problem}: enter tyche verify and a result's link (https://…/r/req_…), its id (req_…) or the url of an answer, or tyche verify <network> and a transaction's hash or a draw's label`,
    );
  }
  if (typeof which === "string" || "label" in which)
    return { network: network!, which, service: typeof first === "string" ? undefined : first.origin };
  const shared = await findResult(which);
  if (network !== undefined && shared.network !== network)
    throw new UsageError(
      `this result is on ${shared.network}: enter tyche verify ${shared.network} ${new URL(shared.service).origin}/r/${which.id}`,
    );
  return shared;
}

/** Asks a result's service which transaction it is. */
async function findResult({ id, origin: named }: OfService): Promise<{
  readonly network: string;
  readonly which: Hex;
  readonly requestId: Hex;
  readonly service: string;
}> {
  const chosen = process.env["TYCHE_URL"];
  const baseUrl = named === undefined || chosen !== undefined ? serviceUrl({ url: chosen }) : named;
  const { origin } = new URL(baseUrl);
  if (named !== undefined && named !== origin)
    throw new UsageError(
      `TYCHE_URL is ${origin}, and this result is of ${named}: set TYCHE_URL=${named}, or unset it`,
    );
  const answer = await exploreAt(baseUrl)
    .shared(id)
    .catch((error: unknown) => {
      if (!(error instanceof NotFoundError)) throw error;
      throw new UsageError(
        `${origin} knows no result ${id}: check the id, or set TYCHE_URL to the service that gave it; with the transaction's hash, tyche verify <network> <tx> asks no service`,
      );
    });
  if (!("outcome" in answer)) {
    const why = oneLine(answer.why);
    throw new UsageError(
      answer.state === "waiting"
        ? `no result yet: ${why}; verify again once there is one`
        : `no result: ${why}${answer.kind === undefined ? "; ask whoever made it" : ""}`,
    );
  }
  const shared = findShared(answer);
  if (shared === undefined)
    throw new UsageError(
      `${origin} names no transaction of this result: enter the transaction's hash, which the result's page shows`,
    );
  return { network: shared.network, which: shared.hash, requestId: shared.requestId, service: baseUrl };
}

/** Connects to what a service tells anybody. */
function exploreAt(baseUrl: string): ReturnType<typeof createCheckedExplorer> {
  return createCheckedExplorer(createExplorer({ baseUrl }), new URL(baseUrl).origin);
}

/** Whether a service is the one whose data directory is here. */
function isOwn(service: string): boolean {
  const own = findServiceUrl(dataDirOfEnvironment());
  return own !== undefined && new URL(own).origin === new URL(service).origin;
}

/** Reads the addresses from a file or, if it begins with a brace, from the option itself. */
async function readContracts(given: string): Promise<unknown> {
  const isJson = given.startsWith("{");
  const text = isJson ? given : await readText(given);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(
      `${isJson ? "--contracts" : given} is not JSON; give the response of GET /api/networks`,
    );
  }
}

/** What each request of a verified transaction must be of. */
interface Expectation {
  readonly what: "label" | "dapp" | "preset" | "source" | "beacon" | "list";
  /**
   * A label, a dapp's id, a preset's name, keccak256 of a source or `@` and the file that has it, `drand`, or `@` and the file with the
   * entries: a JSON array of texts, or one to a line.
   */
  readonly of: string;
}

/** Adds an expectation of the command line to those before it. */
function collectExpectation(typed: string, before: readonly Expectation[] = []): Expectation[] {
  const isKnown =
    /^(?:(?:label|dapp|preset)=.+|source=(?:@.+|0x[0-9a-fA-F]{64})|beacon=drand|list=@.+)$/s.test(typed);
  const [what, ...of] = typed.split("=");
  if (isKnown) return [...before, { what: what as Expectation["what"], of: of.join("=") }];
  if (/^(?:source=(?!0x)|list=)./.test(typed))
    throw new InvalidArgumentError(`A file's name comes after @, such as ${what}=@${of.join("=")}`);
  throw new InvalidArgumentError(
    "It must be label=TEXT, dapp=ID, preset=NAME, source=@FILE, source=0x…, beacon=drand or list=@FILE.",
  );
}

/** Returns what an expectation finds wrong with a request; `undefined` if nothing. */
async function findUnexpected(
  { what, of }: Expectation,
  { label, args, beacon, preset, sourceHash }: RequestVerification,
): Promise<string | undefined> {
  if (what === "label") return findUnexpectedLabel(canonicalLabel(of), label);
  if (what === "dapp") {
    if (label === null) return `the dapp is unknown, as there is no label; expected ${of}`;
    return label.dapp === of ? undefined : `the dapp is ${label.dapp}, not ${of}`;
  }
  if (what === "preset") {
    if (preset?.name === of) return undefined;
    const found = preset === null ? "it is no preset" : `the preset is ${preset.name ?? UNKNOWN_PRESET}`;
    return `${found}, not ${of}`;
  }
  if (what === "source") {
    const { keccak256 } = await import("viem");
    const hash = of.startsWith("@") ? keccak256(await readFile(of.slice(1))) : of.toLowerCase();
    return sourceHash === hash
      ? undefined
      : `the source's keccak256 is ${sourceHash ?? "unknown"}, not ${hash}`;
  }
  if (what === "beacon") {
    if (beacon === null) return "its result follows from no round of drand's quicknet";
    return isQuicknet(beacon.chainHash) ? undefined : `it fixed ${nameBeacon(beacon)}, which is not drand's`;
  }
  const file = of.slice(1);
  return findUnexpectedList(parseEntries(await readText(file)), { args: args ?? [], file });
}

/** Says where the list of a request differs from a file, which may have hundreds of lines. */
function findUnexpectedList(
  expected: readonly string[],
  { args, file }: { readonly args: readonly string[]; readonly file: string },
): string | undefined {
  const lists = args.map(parseList).filter((one) => one !== undefined);
  if (lists.some((list) => JSON.stringify(list) === JSON.stringify(expected))) return undefined;
  const [list, ...others] = lists;
  if (list === undefined || others.length > 0) return `no argument is the list of ${file}`;
  return describeDifference(list, { expected, from: file });
}

/** A label counts for the first request that a dapp gave it to: whoever could choose among several would choose the result. */
function findUnexpectedLabel(
  expected: string,
  found: Pick<RequestVerification, "label">["label"],
): string | undefined {
  if (found?.label !== expected)
    return `the label is ${found === null ? "none" : JSON.stringify(found.label)}, not ${JSON.stringify(expected)}`;
  const { draw, draws, searched } = found;
  if (draw !== 1)
    return `it is request ${draw} of ${draws.length} with this label; the first is in ${draws[0]!.transactionHash}`;
  const unread = findUnread(searched, BigInt(draws[0]!.blockNumber));
  return unread && `whether it is the first with this label is open, as ${unread}`;
}

/** Returns why there may be further requests before or in a block; `undefined` if there are none. */
function findUnread(
  searched: NonNullable<RequestVerification["label"]>["searched"],
  block: bigint,
): string | undefined {
  if (isProven(searched)) return undefined;
  const { from, to, codeFrom, omits } = searched;
  if (BigInt(from) > BigInt(codeFrom ?? 0)) {
    const gap = `blocks before ${from} were not searched`;
    return codeFrom === null
      ? `${gap}, and the node has no state of the time before the deployment, to show that there was no contract; ask one that has, with --rpc-url`
      : `${gap}; ask another node, with --rpc-url, or search from the deployment on, with --contracts and its deploymentBlock`;
  }
  if (BigInt(to) < block) return `blocks after ${to}, up to its own, were not searched; leave out --to-block`;
  return omits
    ? "not all that the node lists, or not all blocks up to its own, could be read; ask another node, with --rpc-url"
    : undefined;
}
