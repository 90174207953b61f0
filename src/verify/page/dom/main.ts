/** The page's own script: reads the form, verifies, shows every step. */
import type {
  ExplorerNetwork,
  RequestVerification,
  SharedRequest,
  Shared,
  Verification,
} from "../../../api/types.ts";
import type { Hex } from "viem";
import { countOf } from "../../../lib/countOf.ts";
import { messageOf } from "../../../lib/errors.ts";
import { readableTime } from "../../../lib/time.ts";
import { canonicalLabel, describeDraws, findLabelProblem, nameLabel } from "../../../domain/label.ts";
import { isId } from "../../../domain/idForm.ts";
import { findResultAddress, findShared } from "../../../domain/resultAddress.ts";
import {
  describeAdvice,
  describeFailedVerdict,
  describeGenuine,
  describeVerdict,
  verdictReasons,
} from "../../../text/verification.ts";
import { worstVerdict } from "../../../domain/verdicts.ts";
import { OWN_NODE_SEARCH, type ChainReader, type SearchBounds } from "../../chainFacts.ts";
import { findDraws, type DescribedDraw } from "../../findDraws.ts";
import { parsePublished } from "../../publishedContracts.ts";
import { OtherContractsError } from "../../requestParts.ts";
import { verifyTransaction } from "../../verifyTransaction.ts";
import {
  createFetchReader,
  createRecordedReader,
  createReadRecorder,
  findRecordedHash,
} from "../../recordedReader.ts";
import { showErrorText, showHidden } from "../showForeignText.ts";
import { capitalize } from "../../../lib/capitalize.ts";
import { button, drawMark, element, fold } from "./elements.ts";
import { createRequestSection, summarize, type PagePreset } from "./requestSection.ts";
import { createFrameRunner } from "./runInFrame.ts";

/** The frame's document, inserted by the build. */
declare const FRAME_HTML: string;
/** The presets that come with Tyche by keccak256 of their sources, inserted by the build. */
declare const PRESETS: Readonly<Record<string, PagePreset>>;

/** Longest result that an oracle of Tyche reports, in bytes. */
const MAX_RESPONSE_BYTES = 1024;
/** What a text that is meant as a transaction's hash looks like. */
const HASH = /^(?:0x.*|[0-9a-f]{64})$/i;
/** What the first field takes. */
const WHAT_TO_PASTE =
  "Paste the link to share of a result (…/r/req_…), the address of its transaction (…/tx/0x…), the transaction's hash, or a draw's label.";
/** Longest verification. Reading hundreds of blocks from a slow node takes minutes. */
const MAX_MINUTES = 5;

const form = document.querySelector("form")!;
const output = document.querySelector("output")!;
const field = (name: string): string => (form.elements.namedItem(name) as HTMLInputElement).value.trim();
const setField = (name: string, value: string): void => {
  (form.elements.namedItem(name) as HTMLInputElement).value = value;
};

/** Ticked to leave out block hashes. */
const noBlocks = form.elements.namedItem("no-blocks") as HTMLInputElement;

/** Ticked if the oracle's operator runs the chain. */
const isLocal = form.elements.namedItem("local") as HTMLInputElement;

/** Holds the fields that few need; opened when one of them is filled in without the reader. */
const options = document.querySelector<HTMLDetailsElement>("#options")!;

const cancelButton = document.querySelector<HTMLButtonElement>("#cancel")!;

const verifyButton = form.querySelector<HTMLButtonElement>("button:not([type])")!;

/** Fills in the addresses that the service publishes; hidden where the page is a file. */
const serviceButton = document.querySelector<HTMLButtonElement>("#service")!;
serviceButton.hidden = !location.protocol.startsWith("http");
serviceButton.addEventListener("click", () => void takeFromService());

/** Shows the networks of the service to choose a node from; hidden like the other button. */
const nodesButton = document.querySelector<HTMLButtonElement>("#nodes")!;
nodesButton.hidden = serviceButton.hidden;
nodesButton.addEventListener(
  "click",
  () => void chooseNode().catch((error: unknown) => fail(messageOf(error))),
);
const networkSelect = document.querySelector<HTMLSelectElement>("#network")!;
networkSelect.addEventListener("change", () => takeNetwork(networkSelect.value));

/** What the service publishes of its networks; empty until it has answered, once for as long as the page is open. */
let networks: readonly ExplorerNetwork[] = [];

/** Leads back to the service; a file has none. */
const home = document.querySelector<HTMLElement>("nav")!;
if (serviceButton.hidden) home.remove();
else home.append(Object.assign(document.createElement("a"), { href: "/", textContent: "Tyche" }));

/** Stands for addresses that the reader has not entered, which would fill the field with pages of JSON. */
const taken = document.querySelector<HTMLElement>("#taken")!;
const contractsField = document.querySelector<HTMLElement>("#contracts")!;
document.querySelector("#edit")!.addEventListener("click", () => {
  showTaken("");
  contractsField.focus();
});

/** Anybody may have made the link. */
const FROM_LINK = "The addresses that the link brought.";

/** The request that the page has filled in: that of another result, once the reader names one. */
let filledRequest = "";
document.querySelector("#tx")!.addEventListener("input", () => {
  if (field("request") === filledRequest) setField("request", "");
});

/** Ends when the chosen files have been read. */
let reading = Promise.resolve();

/** Ends the current verification, if there is one. */
let stop: AbortController | undefined;

fillFromAddress();
addEventListener("hashchange", () => {
  // What is being checked is not what the new link names.
  if (stop !== undefined) location.reload();
  else fillFromAddress();
});
document.querySelector<HTMLInputElement>("#file")!.addEventListener("change", (event) => {
  const [file] = (event.target as HTMLInputElement).files ?? [];
  if (file !== undefined) reading = readAfter(reading, file);
});
document.querySelector("#data")!.addEventListener("input", fillFromData);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (stop === undefined) void run();
});
// A press before this script ran would be lost.
verifyButton.disabled = false;
cancelButton.addEventListener("click", () => stop?.abort(new Error("Cancelled: nothing was decided.")));
addEventListener("message", ({ data, origin, ports: [port] }) => {
  // Pages of the service have a result checked in a frame; the fragment of its address says which one.
  if (parent === window || origin !== location.origin || port === undefined) return;
  void checkForPage(String(data)).then(
    (found) => port.postMessage({ found }),
    (error: unknown) => port.postMessage({ problem: showErrorText(messageOf(error)) }),
  );
});

/** Checks the transaction of the fragment with chain data that the service read as its own check does, with none of the longer searches. */
async function checkForPage(data: string): Promise<Verification> {
  const hash = parseHash(field("tx"), "The transaction");
  const timeout = AbortSignal.timeout(MAX_MINUTES * 60_000);
  return await verify(createRecordedReader(data), hash, timeout, "service");
}

/** Reads a file with chain data, after those that were chosen before. The file may bring the transaction, so nothing is required meanwhile. */
async function readAfter(earlier: Promise<void>, file: File): Promise<void> {
  form.noValidate = true;
  await earlier;
  try {
    setField("data", await file.text());
    fillFromData();
  } catch (error) {
    fail(`The file can't be read: ${showErrorText(messageOf(error))}`);
  } finally {
    form.noValidate = false;
  }
}

/** Takes the addresses that the service publishes. */
async function takeFromService(): Promise<void> {
  try {
    await readNetworks();
    takeContracts();
  } catch (error) {
    fail(messageOf(error));
  }
}

/** Shows the networks whose nodes the service publishes. */
async function chooseNode(): Promise<void> {
  await readNetworks();
  const options = networks
    .filter(({ rpcUrl }) => rpcUrl !== undefined)
    .map(({ title, name }) => new Option(title, name));
  if (options.length === 0) throw new Error("This service publishes no node: name one of your own.");
  networkSelect.replaceChildren(new Option("Which network?", ""), ...options);
  networkSelect.hidden = false;
  networkSelect.focus();
  nodesButton.hidden = true;
}

/** Takes the node that the service publishes for a network and, unless there are some, the addresses of its contracts. */
function takeNetwork(network: string): void {
  const rpcUrl = networks.find(({ name }) => name === network)?.rpcUrl;
  if (rpcUrl === undefined) return;
  setField("rpc", rpcUrl);
  if (field("contracts") === "") takeContracts();
}

function takeContracts(): void {
  setField("contracts", JSON.stringify({ data: { items: networks } }, null, 2));
  const count = countOf(networks.length, "network");
  showTaken(`The addresses that ${location.host} publishes, of ${count}.`);
}

/** Says where the addresses come from, in place of their field; shows the field if nothing is said. */
function showTaken(says: string): void {
  taken.querySelector("span")!.textContent = says;
  taken.hidden = says === "";
  contractsField.hidden = says !== "";
}

/** Reads what the service publishes of its networks, if the page's server is one, unless it was read before. */
async function readNetworks(): Promise<void> {
  if (networks.length > 0) return;
  const { data } = await readPublic<{ readonly data: { readonly items: readonly ExplorerNetwork[] } }>(
    "/networks",
    "The server of this page publishes no networks",
  );
  networks = data.items;
}

/** Reads what the page's server tells anybody, and so without a key. */
async function readPublic<Answer>(path: string, problem: string): Promise<Answer> {
  try {
    const answer = await fetch(`/api/explorer${path}`);
    if (!answer.ok) throw new Error(`HTTP status ${answer.status}`);
    return (await answer.json()) as Answer;
  } catch (error) {
    throw new Error(`${problem}: ${showErrorText(messageOf(error))}`, { cause: error });
  }
}

/**
 * Replaces the address of a result by its transaction's hash. Of its own service, the page asks which transaction that is, and no more.
 * Returns the network of the service that the result is on, if the address says so.
 */
async function readAddress(): Promise<ExplorerNetwork | undefined> {
  const named = field("tx");
  const isOfService = isId("req", named);
  if (isOfService && serviceButton.hidden)
    throw new Error(`${named} is a request's id, which only its service knows. ${WHAT_TO_PASTE}`);
  const address = findResultAddress(isOfService ? `${location.origin}/r/${named}` : named);
  if (address === undefined) {
    if (named.includes("://")) throw new Error(`This address is not a result's. ${WHAT_TO_PASTE}`);
    return;
  }
  const isOwn = address.origin === location.origin;
  if ("hash" in address) {
    setField("tx", address.hash);
    return isOwn && address.network !== undefined ? await takeNodeOf(address.network) : undefined;
  }
  if (!isOwn)
    throw new Error(
      `This page can't ask ${address.origin} for the transaction: open the address, and enter the transaction's hash that it shows.`,
    );
  const { data } = await readPublic<{ readonly data: Shared }>(
    `/results/${address.id}`,
    "This service has no such result",
  );
  if (!("outcome" in data)) throw new NoResultError(data);
  const found = findShared(data);
  if (found === undefined)
    throw new Error("This service names no transaction of the result: enter the transaction's hash.");
  setField("tx", found.hash);
  fillRequest(found.requestId);
  return await takeNodeOf(found.network);
}

/** Takes the node of a network of the service, where the reader has named none. */
async function takeNodeOf(network: string): Promise<ExplorerNetwork | undefined> {
  await readNetworks();
  if (field("rpc") === "" && field("data") === "") takeNetwork(network);
  return networks.find(({ name }) => name === network);
}

/** Refuses a node, or chain data, of another chain than the result is on. */
async function assertChain(client: ChainReader, { title, chainId }: ExplorerNetwork): Promise<void> {
  const actual = Number(await client.request("eth_chainId"));
  if (actual === chainId) return;
  throw new Error(
    `This result is on ${title} (chain ${chainId}), and ${field("data") === "" ? `the node at "RPC URL" serves` : "the chain data is of"} ${nameChain(actual)}: choose ${title} in the list of this service's networks, or enter a node of its chain.`,
  );
}

/** Names a chain as the service does where its node is asked: another node may serve another chain with the same id. */
function nameChain(chainId: number): string {
  const isAsked = (network: ExplorerNetwork): boolean =>
    network.chainId === chainId && network.rpcUrl === field("rpc") && field("data") === "";
  const known = networks.find(isAsked);
  return known === undefined ? `the chain ${chainId}` : `${known.title} (chain ${chainId})`;
}

function fillRequest(requestId: string): void {
  filledRequest = requestId;
  setField("request", requestId);
}

/** @param verdict said above, if it is one */
function fail(why: string, verdict?: HTMLElement): void {
  output.replaceChildren(...(verdict === undefined ? [] : [verdict]), element("p", why));
  output.dataset["state"] = "error";
  output.scrollIntoView({ block: "nearest" });
}

/** Asks for what a verification needs; the question goes with the first answer. */
function ask(question: string): void {
  output.replaceChildren(element("p", question));
  output.dataset["state"] = "question";
  output.scrollIntoView({ block: "nearest" });
  const forget = (): void => {
    if (output.dataset["state"] !== "question") return;
    output.replaceChildren();
    delete output.dataset["state"];
  };
  form.addEventListener("input", forget, { once: true });
}

/** Shows that the service's request has no result, and what it waits for. */
function showWithoutResult({ state, why }: SharedRequest): void {
  const isWaiting = state === "waiting";
  const words = isWaiting ? "no result yet" : "there is no result";
  const next = isWaiting ? [element("p", "Verify again once there is a result.")] : [];
  output.replaceChildren(
    createVerdict(words, "notApplicable"),
    element("p", `${capitalize(showHidden(why))}.`),
    ...next,
  );
  output.dataset["state"] = "incomplete";
  output.scrollIntoView({ block: "nearest" });
}

/** Takes the transaction from the chain data, which was saved for it. */
function fillFromData(): void {
  if (field("tx") === "") setField("tx", findRecordedHash(field("data")) ?? "");
}

/** Fills the form from the link, which may name node, transaction and more after `#`, where no server sees them. */
function fillFromAddress(): void {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of ["rpc", "tx", "contracts"]) setField(name, given.get(name) ?? field(name));
  if (location.hash === "") return;
  fillRequest(given.get("request") ?? "");
  showTaken(given.has("contracts") ? FROM_LINK : "");
  noBlocks.checked = given.get("blocks") === "no";
  isLocal.checked = given.get("chain") === "local";
  showFilledOptions();
  if (given.get("run") === "now" && parent === window) void run();
}

function showFilledOptions(): void {
  // The verdict says of a local chain that it is one.
  if (noBlocks.checked || field("request") !== "" || field("data") !== "") options.open = true;
}

/**
 * @param bounds where further requests with the label are looked for, to go on with a search
 * @param chosenLabel the label for which the transaction was chosen
 */
async function run(bounds: SearchBounds = {}, chosenLabel?: string): Promise<void> {
  const current = (stop = new AbortController());
  const reason = `The verification was stopped after ${MAX_MINUTES} minutes. The node may be slow: try another one, or one request alone.`;
  const timer = setTimeout(() => current.abort(new Error(reason)), MAX_MINUTES * 60_000);
  // A disabled button loses the focus.
  verifyButton.ariaDisabled = "true";
  cancelButton.hidden = false;
  output.dataset["state"] = "busy";
  output.replaceChildren(element("p", "Reading the chain and checking …"));
  output.scrollIntoView({ block: "nearest" });
  try {
    await unlessStopped(reading, current.signal);
    const given = field("tx");
    const network = await unlessStopped(readAddress(), current.signal);
    const named = parseNamed(field("tx"));
    const data = field("data");
    const recorder = createReadRecorder(
      data === ""
        ? createFetchReader(await unlessStopped(findUrl(named), current.signal), { stop: current })
        : createRecordedReader(data),
    );
    if (network !== undefined) {
      // The hash alone would no longer say which network it is on.
      setField("tx", given);
      await unlessStopped(assertChain(recorder, network), current.signal);
      setField("tx", named);
    }
    const hash = await unlessStopped(findTransaction(recorder, named, bounds), current.signal);
    // There are several, or none: it says so.
    if (hash === undefined) return;
    const found = await unlessStopped(verify(recorder, hash, current.signal, bounds), current.signal);
    // A node may name any transaction.
    const isNamed = chosenLabel === undefined && hash === toHash(named);
    const wanted = canonicalLabel(chosenLabel ?? named);
    const requests = found.requests.filter(({ label }) => isNamed || label?.label === wanted);
    if (requests.length === 0)
      throw new Error(`The node names ${hash}, whose requests don't have this label. Ask another node.`);
    const source =
      data === "" ? `the node at ${new URL(field("rpc")).host}` : "the chain data; no node was asked";
    const chainData = JSON.stringify(recorder.save());
    // What was saved of a chain goes no further.
    const newest = data === "" ? BigInt(String(await recorder.request("eth_blockNumber"))) : undefined;
    const others = found.requests.length - requests.length;
    if (others > 0 && requests.length === 1) fillRequest(requests[0]!.requestId);
    show({ ...found, requests, verdict: worstVerdict(requests) }, chainData, { source, newest, others });
    const verdict = output.querySelector("h2")!;
    verdict.scrollIntoView();
    verdict.focus({ preventScroll: true });
  } catch (error) {
    // Its text is ours, and every address in it counts.
    if (error instanceof OtherContractsError) fail(error.message, createVerdict("not valid", "failed"));
    else if (error instanceof NoResultError) showWithoutResult(error.request);
    else if (error instanceof NetworkQuestion) ask(error.message);
    else fail(showErrorText(messageOf(error)));
  } finally {
    clearTimeout(timer);
    stop = undefined;
    verifyButton.ariaDisabled = null;
    // A hidden button loses the focus, too.
    if (document.activeElement === cancelButton) verifyButton.focus();
    cancelButton.hidden = true;
  }
}

/** Returns the transaction that was named, or that of the only draw with the label that was; of several, shows a list to choose from. */
async function findTransaction(
  client: ChainReader,
  named: string,
  bounds: SearchBounds,
): Promise<Hex | undefined> {
  if (named !== "" && !HASH.test(named)) return await findDraw(client, named, bounds);
  const hash = parseHash(named, "The transaction");
  const isKnown =
    field("contracts") === "" || (await client.request("eth_getTransactionReceipt", [hash])) !== null;
  // A label may be the hash of an announcement.
  return isKnown ? hash : await findDraw(client, named, bounds);
}

/** Finds the only draw with a label; of several, shows a list to choose from. */
async function findDraw(client: ChainReader, label: string, bounds: SearchBounds): Promise<Hex | undefined> {
  const contracts = field("contracts");
  const chainId = Number(await client.request("eth_chainId"));
  const published = contracts === "" ? undefined : parsePublished(parseJson(contracts), { chainId });
  const presetConsumer = published?.contracts.presetConsumer?.toLowerCase() as Hex | undefined;
  if (presetConsumer === undefined)
    throw new Error(
      `To find a draw by its label, paste the addresses of the operator's contracts${serviceButton.hidden ? "" : ", or take them from this service"}.`,
    );
  const found = await findDraws(label, {
    client,
    chainId,
    network: `chain ${chainId}`,
    contracts: published?.contracts,
    findPreset: (sourceHash) => PRESETS[sourceHash],
    presetConsumer,
    deploymentBlock: published?.deploymentBlock,
    ...OWN_NODE_SEARCH,
    ...bounds,
  });
  const { transactionHashes: hashes, from, to, codeFrom = 0n, isWhole } = found;
  const [only, ...others] = hashes;
  if (only !== undefined && others.length === 0) {
    setField("tx", only);
    return only;
  }
  const none = HASH.test(label) ? "No transaction has this hash, and no request" : "No request has";
  const who = only === undefined ? none : `${hashes.length} transactions have requests with`;
  const where = `blocks ${from} to ${to} of ${nameChain(chainId)}${isWhole ? "" : ", not all of it"}`;
  const list = element("ol");
  for (const [i, hash] of hashes.entries()) {
    const choose = button(`Verify ${i + 1} of ${hashes.length}: ${hash}`, () => {
      setField("tx", hash);
      void run({}, label);
    });
    const item = element("li", "");
    item.append(choose, ...(found.described[i] ?? []).map((draw) => element("p", nameDraw(draw))));
    list.append(item);
  }
  const order = only === undefined ? "" : " The oldest comes first.";
  const said = `${who} the label ${nameLabel(label)} (${where}).${order}`;
  output.replaceChildren(
    element("p", showHidden(said)),
    ...(only === undefined ? [] : [list]),
    ...goOnButtons(
      { ...found, codeFrom, label: canonicalLabel(label) },
      BigInt(String(await client.request("eth_blockNumber"))),
    ),
  );
  output.dataset["state"] = "several";
  return undefined;
}

/** Says what a request asked for, what came of it, when and whose it is. */
function nameDraw(draw: DescribedDraw): string {
  const { requestedAt, dapp } = draw;
  const preset = Object.values(PRESETS).find(({ name }) => name === draw.preset?.name);
  const when = requestedAt === null ? "" : `${readableTime(requestedAt)}, `;
  return showHidden(`${summarize(draw, preset)} (${when}of ${dapp})`);
}

/** Creates the buttons that search for a label in the blocks that a search left out, and add what it found. */
function goOnButtons(
  { codeFrom, ...earlier }: NonNullable<SearchBounds["earlier"]> & { readonly codeFrom: bigint },
  newest: bigint,
): HTMLElement[] {
  const rest = [
    { fromBlock: codeFrom, toBlock: earlier.from - 1n },
    { fromBlock: earlier.to + 1n, toBlock: newest },
  ];
  const where = (): string => JSON.stringify([field("rpc"), field("contracts"), field("data")]);
  const searched = where();
  return rest
    .filter(({ fromBlock, toBlock }) => fromBlock <= toBlock)
    .map((bounds) =>
      button(
        `Search blocks ${bounds.fromBlock} to ${bounds.toBlock}`,
        () =>
          // Another node, or other contracts: what was found before says nothing of them.
          void run(where() === searched ? { ...bounds, earlier } : bounds),
      ),
    );
}

/** Rejects as soon as the signal aborts: some checks go on without an answer that they can't get. */
function unlessStopped<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    work.then(resolve, reject);
  });
}

async function verify(
  client: ChainReader,
  hash: Hex,
  signal: AbortSignal,
  bounds: SearchBounds | "service",
): Promise<Verification> {
  const request = field("request");
  const contracts = field("contracts");
  const chainId = Number(await client.request("eth_chainId"));
  if (!Number.isSafeInteger(chainId)) throw new Error("The node doesn't say which chain it serves.");
  const published = contracts === "" ? undefined : parsePublished(parseJson(contracts), { chainId });
  // Ticked for the user to see: the operator says so.
  if (published?.isEmbedded) isLocal.checked = true;
  const runner = createFrameRunner(FRAME_HTML);
  return await verifyTransaction(hash, {
    client,
    chainId,
    network: `chain ${chainId}`,
    contracts: published?.contracts ?? {},
    keyHashes: published?.keyHashes,
    isEmbedded: isLocal.checked ? true : undefined,
    run: (source) => runner({ ...source, signal }),
    maxResponseBytes: MAX_RESPONSE_BYTES,
    caller: "page",
    searchesInParts: bounds === "service" && isLocal.checked,
    labelSearch: {
      ...(bounds === "service" ? {} : OWN_NODE_SEARCH),
      deploymentBlock: published?.deploymentBlock,
      ...(bounds === "service" ? {} : bounds),
    },
    findPreset: (sourceHash) => PRESETS[sourceHash],
    drandChains: published?.drandChains,
    hasEthereumBlocks: !noBlocks.checked,
    ...(request === "" ? {} : { requestId: parseHash(request, "The request") }),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error("The addresses of the contracts must be JSON, as GET /api/networks answers it.");
  }
}

/** Returns what was named if it can be a transaction's hash or a label. */
function parseNamed(named: string): string {
  if (HASH.test(named)) {
    if (toHash(named) === undefined)
      throw new Error(
        `${JSON.stringify(named)} is no transaction's hash, which is 0x and 64 hex digits. ${WHAT_TO_PASTE}`,
      );
    return named;
  }
  const problem = named === "" ? "" : findLabelProblem(named);
  if (problem === "") throw new Error(`The result is missing. ${WHAT_TO_PASTE}`);
  if (problem !== undefined)
    throw new Error(`This is no address or hash, and a label ${problem}. ${WHAT_TO_PASTE}`);
  return named;
}

/**
 * Returns the URL of the node to ask. Where none is named, it is that of the service's only network; of several, their list is shown.
 *
 * @param named what is looked for: of a label, which any text can be, the reader is told that it was taken for one
 */
async function findUrl(named: string): Promise<string> {
  if (field("rpc") === "" && !serviceButton.hidden) {
    // A page's server need not be a service.
    await chooseNode().catch(() => {});
    const nodes = networks.filter(({ rpcUrl }) => rpcUrl !== undefined);
    if (nodes.length === 1) takeNetwork(nodes[0]!.name);
  }
  const url = field("rpc");
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  const listed = networkSelect.hidden ? "" : "choose the network in the list of this service's networks, ";
  const node = `${listed}enter the RPC URL of a node (http or https), or paste chain data.`;
  const text = HASH.test(named)
    ? capitalize(node)
    : `${JSON.stringify(named)} is neither an address nor a hash, so it is taken for a draw's label. To look for it, ${node}`;
  throw networkSelect.hidden ? new Error(text) : new NetworkQuestion(text);
}

function parseHash(text: string, what: string): Hex {
  const hash = toHash(text);
  if (hash === undefined) throw new Error(`${what} must be 0x and 64 hex digits.`);
  return hash;
}

function toHash(text: string): Hex | undefined {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/.exec(text.toLowerCase()) ?? [];
  return digits === undefined ? undefined : `0x${digits}`;
}

/**
 * @param read.newest block up to which a search for a label can go on; `undefined` if it can't
 * @param read.others how many requests of the transaction are left out
 */
function show(
  found: Verification,
  chainData: string,
  {
    source,
    newest,
    others,
  }: { readonly source: string; readonly newest: bigint | undefined; readonly others: number },
): void {
  const { words, outcome } = describeVerdict(found);
  const trust = element("ul");
  trust.append(...found.trust.map((sentence) => element("li", sentence)));
  const contracts = element("dl");
  for (const [name, address] of Object.entries(found.contracts))
    contracts.append(element("dt", name), element("dd", address));
  const byWhom = fold(
    "By whose contracts: compare these addresses with those that the operator publishes",
    contracts,
  );
  const isFromLink = !taken.hidden && taken.textContent.includes(FROM_LINK);
  byWhom.open = isFromLink || found.verdict === "conditional";
  const save = element("a", "Save the chain data that was read") as HTMLAnchorElement;
  save.href = URL.createObjectURL(new Blob([chainData], { type: "application/json" }));
  save.download = `${found.transactionHash}.json`;
  const [request, ...further] = found.requests;
  const isAlone = further.length === 0;
  const meaning =
    outcome === "ok" && request !== undefined && isAlone
      ? describeMeaning(request.kind, found.chainId)
      : (describeFailedVerdict(found)?.meaning ?? describeAdvice(found));
  const reasons = verdictReasons(found).map((reason) => element("p", `${capitalize(showHidden(reason))}.`));
  const isWaiting = found.verdict === "incomplete";
  const without = `${countOf(others, "more request")} of the transaction`;
  output.replaceChildren(
    createVerdict(words, outcome),
    // What it waits for says more than that it does.
    ...(isWaiting ? reasons : []),
    ...(meaning === undefined ? [] : [element("p", meaning)]),
    ...(isAlone && request?.label ? [element("p", describeDraws(request.label, request.kind))] : []),
    ...(isWaiting ? [] : reasons),
    ...(isAlone ? [] : [element("h2", `The ${found.requests.length} results`)]),
    ...found.requests.map((request) =>
      createRequestSection(request, {
        preset: request.sourceHash === null ? undefined : PRESETS[request.sourceHash],
        isAlone,
        more: [...(isAlone ? [] : [chooseButton(request)]), ...goOnFrom(request, newest)],
      }),
    ),
    ...(others === 0
      ? []
      : [element("p", `${without} without this label left out: verify its hash, with no request named.`)]),
    byWhom,
    element("h2", "What you still have to trust"),
    trust,
    element("p", `Everything was read from ${source}. The chain is ${describeChain(found.chainId)}.`),
    save,
  );
  output.dataset["state"] = found.verdict;
}

function createVerdict(words: string, outcome: Parameters<typeof drawMark>[0]): HTMLElement {
  const verdict = element("h2", capitalize(words));
  verdict.dataset["outcome"] = outcome;
  verdict.tabIndex = -1;
  verdict.prepend(drawMark(outcome, { "aria-hidden": "true" }));
  return verdict;
}

/** Creates the button that verifies one of several requests alone. */
function chooseButton({ requestId }: RequestVerification): HTMLElement {
  return button("Verify this one alone", () => {
    fillRequest(requestId);
    void run();
  });
}

/** Creates the buttons that go on with the search for a request's label. */
function goOnFrom({ label: found }: RequestVerification, newest: bigint | undefined): HTMLElement[] {
  if (found === null || newest === undefined) return [];
  const { dapp, label, draws, searched } = found;
  const { from, to, codeFrom, omits } = searched;
  const earlier = {
    dapp,
    label,
    transactionHashes: draws.map(({ transactionHash }) => transactionHash),
    from: BigInt(from),
    to: BigInt(to),
    omits,
  };
  return goOnButtons({ ...earlier, codeFrom: BigInt(codeFrom ?? 0) }, newest);
}

/** Says what a valid result means. Only the reader knows whether a chain that nobody called local is the public one. */
function describeMeaning(kind: RequestVerification["kind"], chainId: number): string {
  return isLocal.checked
    ? `${describeGenuine(kind, true)}.`
    : `${describeGenuine(kind, false)}, if this is the public chain ${chainId} and not one that the operator runs.`;
}

function describeChain(chainId: number): string {
  return isLocal.checked
    ? `a local chain with the id ${chainId}, which the oracle's operator runs`
    : `the one with the id ${chainId}`;
}

/** Several networks could have what is looked for. */
class NetworkQuestion extends Error {}

/** The service's request has no result. */
class NoResultError extends Error {
  readonly request: SharedRequest;

  constructor(request: SharedRequest) {
    super(request.why);
    this.request = request;
  }
}
