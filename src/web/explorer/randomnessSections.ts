import type { Hex } from "viem";
import type { JoinView, ProofView, RandomRequestView, RandomnessView } from "../../explorer/views.ts";
import { blockLink, code, count, groupDigits, partyLink, transactionLink, units } from "../format.ts";
import { html, showText, type Html } from "../html.ts";
import { facts, folded, scrollable, tag } from "./parts.ts";

/** Words shown at once; the rest is folded away. */
const OPEN_WORDS = 10;

/** One VRF proof: its fields as the calldata has them, what it answers, and the words it gives. */
export function randomnessSection(randomness: RandomnessView, network: string): Html {
  const {
    requestId,
    keyHash,
    proof,
    commitment,
    output,
    words,
    outcome,
    reason,
    paymentJuels,
    paymentWei,
    onlyPremium,
    requestedBy,
  } = randomness;
  return html`<section class="panel" data-vrf-request="${requestId}"><h2>Random words, with their proof</h2>
${facts([
  ["Outcome", outcomeTag(randomness)],
  ["Why", reason !== undefined && showText(reason)],
  ["VRF request", code(requestId)],
  ["Requested by", requestedBy !== undefined && html`transaction ${transactionLink(network, requestedBy)}`],
  ["Consumer", partyLink(network, commitment.sender, { full: true })],
  [
    "Paid",
    paymentWei === undefined
      ? paymentJuels !== undefined && units(paymentJuels, "LINK")
      : units(paymentWei, "coin"),
  ],
  ["Charged", onlyPremium === true && "the premium alone, without the gas"],
  ["Key hash", code(keyHash)],
])}
<h3>Proof</h3>
${proofTable(proof)}
<h3>Request commitment</h3>
${facts([
  ["blockNum", blockLink(network, commitment.blockNum)],
  ["subId", commitment.subId],
  ["callbackGasLimit", groupDigits(String(commitment.callbackGasLimit))],
  ["numWords", String(commitment.numWords)],
  ["sender", code(commitment.sender.address)],
  ["extraArgs", commitment.nativePayment !== undefined && `nativePayment = ${commitment.nativePayment}`],
])}
<h3>Output and words</h3>
${facts([[html`Output <small>keccak256(3, gamma)</small>`, html`<span data-proof="output">${code(output)}</span>`]])}
${outcome === "refused" ? html`<p class="note">The coordinator refused this proof: nobody received these words from it.</p>` : null}
${wordList(words)}</section>`;
}

/** A request for random words. */
export function randomRequestSection(request: RandomRequestView, network: string): Html {
  const {
    requestId,
    keyHash,
    preSeed,
    subId,
    confirmations,
    callbackGasLimit,
    numWords,
    sender,
    nativePayment,
    answeredBy,
    waitsFor,
  } = request;
  return html`<section class="panel"><h2>Request for random words</h2>
${facts([
  ["VRF request", code(requestId)],
  [
    "Answered by",
    answeredBy === undefined ? "not answered yet" : html`transaction ${transactionLink(network, answeredBy)}`,
  ],
  ["Waiting", waitsFor !== undefined && showText(waitsFor)],
  ["Words", String(numWords)],
  ["Confirmations", String(confirmations)],
  ["Consumer", partyLink(network, sender, { full: true })],
  ["Subscription", subId],
  ["Pays in", nativePayment !== undefined && (nativePayment ? "coin" : "LINK")],
  ["Callback gas", groupDigits(String(callbackGasLimit))],
  ["Key hash", code(keyHash)],
  ["Pre-seed", code(preSeed)],
])}</section>`;
}

/** Words of several proving keys that belong together. */
export function joinSection(
  { requestId, requestedBy, parts, seed, joinedBy }: JoinView,
  network: string,
): Html {
  const rows = parts.map(
    (part) =>
      html`<tr><td>${code(part.keyHash)}</td><td>${code(part.requestId)}</td><td>${part.answeredBy === null ? "not answered yet" : transactionLink(network, part.answeredBy)}</td></tr>`,
  );
  const table = html`<table class="list"><thead><tr><th>Key hash</th><th>VRF request</th><th>Answered by</th></tr></thead><tbody>${rows}</tbody></table>`;
  return html`<section class="panel" data-join="${requestId}"><h2>Words of ${parts.length} keys, joined</h2>
<p class="note">Nobody can choose the joined words while one of these keys is kept honestly.</p>
${facts([
  ["Outcome", joinTag({ parts, joinedBy })],
  ["Request", code(requestId)],
  ["Requested by", html`transaction ${transactionLink(network, requestedBy)}`],
  ["Joined by", joinedBy !== null && html`transaction ${transactionLink(network, joinedBy)}`],
  [html`Seed <small>word i is keccak256(seed, i)</small>`, seed !== null && code(seed)],
])}
${scrollable("Parts", table)}</section>`;
}

function joinTag({ parts, joinedBy }: Pick<JoinView, "parts" | "joinedBy">): Html {
  if (joinedBy !== null) return tag("joined", "good");
  const missing = parts.filter(({ answeredBy }) => answeredBy === null).length;
  if (missing === 0) return tag("not joined: the consumer's callback failed", "bad");
  return tag(`waits for ${count(missing, "word")}`, "busy");
}

function outcomeTag({ outcome, commitment }: RandomnessView): Html {
  if (outcome === "fulfilled") return tag(`${count(commitment.numWords, "word")} delivered`, "good");
  if (outcome === "refused") return tag("refused by the coordinator", "bad");
  return html`${tag("the consumer's callback failed", "bad")} <span class="note">The words are drawn for good; the coordinator doesn't call again.</span>`;
}

function proofTable(proof: ProofView): Html {
  const rows: readonly (readonly [name: keyof ProofView, meaning: string])[] = [
    ["pk", "public key of the oracle"],
    ["gamma", "the key applied to the seed's curve point"],
    ["c", "challenge"],
    ["s", "response"],
    ["seed", "pre-seed of the request"],
    ["uWitness", "address of c·pk + s·G"],
    ["cGammaWitness", "c·gamma"],
    ["sHashWitness", "s·H"],
    ["zInv", "inverse for adding the two points above"],
  ];
  const table = html`<table class="values proof"><tbody>${rows.map(
    ([name, meaning]) =>
      html`<tr><th scope="row">${name}<small>${meaning}</small></th><td data-proof="${name}">${coordinates(proof[name])}</td></tr>`,
  )}</tbody></table>`;
  return scrollable("Proof", table);
}

function coordinates(value: Hex | readonly [Hex, Hex]): Html {
  if (typeof value === "string") return code(value);
  return html`<span class="coordinate">x ${code(value[0])}</span><span class="coordinate">y ${code(value[1])}</span>`;
}

function wordList(words: readonly string[]): Html {
  const items = (from: number, to: number): Html =>
    html`<ol class="words" start="${from}">${words.slice(from, to).map((word) => html`<li>${code(`0x${BigInt(word).toString(16).padStart(64, "0")}`)}<span class="note decimal">${word}</span></li>`)}</ol>`;
  return html`<p class="note">Word i is keccak256(output, i); as 32 bytes and in decimal.</p>${items(0, OPEN_WORDS)}${words.length > OPEN_WORDS && folded(`${words.length - OPEN_WORDS} more words`, items(OPEN_WORDS, words.length))}`;
}
