import type { JoinView, ProofView, RandomnessView, RandomRequestView } from "../../../../client/index.ts";
import { Coin, useSymbolOf } from "../../parts/coin.tsx";
import { BlockLink, Code, count, groupDigits, PartyLink, units } from "../../parts/format.tsx";
import { List } from "../../parts/list.tsx";
import { Facts, Folded, Scrollable, Tag, UnknownText } from "../../parts/parts.tsx";
import { In, reasonOf, type TransactionPlace } from "./place.tsx";

/** Number of words shown at first; the rest is collapsed. */
const OPEN_WORDS = 10;

/** One VRF proof: its fields as in the calldata, the request that it answers, and the words it yields. */
export function RandomnessDetails({
  randomness,
  transaction,
}: {
  readonly randomness: RandomnessView;
  readonly transaction: TransactionPlace;
}) {
  const { requestId, commitment, reason, paymentJuels, paymentWei, requestedBy } = randomness;
  const { network } = transaction;
  return (
    <div data-vrf-request={requestId}>
      <WordList words={randomness.words} />
      <Facts
        entries={[
          ["Outcome", <Outcome randomness={randomness} />],
          ["Why", reason !== undefined && <UnknownText text={reason} />],
          ["Requested in", requestedBy !== undefined && <In place={transaction} hash={requestedBy} />],
        ]}
      />
      {randomness.outcome === "refused" && (
        <p className="note">The coordinator refused this proof: nobody received these words from it.</p>
      )}
      <Folded summary="Ids and payment">
        <Facts
          entries={[
            ["VRF request", <Code text={requestId} />],
            ["Consumer", <PartyLink network={network} party={commitment.sender} full />],
            [
              "Paid",
              paymentWei === undefined ? (
                paymentJuels !== undefined && units(paymentJuels, "LINK")
              ) : (
                <Coin wei={paymentWei} network={network} />
              ),
            ],
            ["Charged", randomness.onlyPremium === true && "the premium only, not the gas"],
            ["Key hash", <Code text={randomness.keyHash} />],
          ]}
        />
      </Folded>
      <Folded summary="Proof">
        <ProofTable proof={randomness.proof} />
        <h3>Request commitment</h3>
        <Facts
          entries={[
            ["blockNum", <BlockLink network={network} number={commitment.blockNum} />],
            ["subId", commitment.subId],
            ["callbackGasLimit", groupDigits(commitment.callbackGasLimit)],
            ["numWords", String(commitment.numWords)],
            ["sender", <Code text={commitment.sender.address} />],
            [
              "extraArgs",
              commitment.nativePayment !== undefined && `nativePayment = ${String(commitment.nativePayment)}`,
            ],
          ]}
        />
        <h3>Output</h3>
        <Facts
          entries={[
            [
              <>
                Output <small>keccak256(3, gamma); word i is keccak256(output, i)</small>
              </>,
              <span data-proof="output">
                <Code text={randomness.output} />
              </span>,
            ],
          ]}
        />
      </Folded>
    </div>
  );
}

/** A request for random words. */
export function RandomRequestDetails({
  request,
  transaction,
}: {
  readonly request: RandomRequestView;
  readonly transaction: TransactionPlace;
}) {
  const { answeredBy, waitsFor, nativePayment } = request;
  const symbolOf = useSymbolOf();
  const { network } = transaction;
  return (
    <>
      {request.words !== undefined && <WordList words={request.words} />}
      <Facts
        entries={[
          ["VRF request", <Code text={request.requestId} />],
          ["Proof in", <In place={transaction} hash={answeredBy} />],
          ["Why it waits", reasonOf(waitsFor, transaction)],
          ["Words", String(request.numWords)],
          ["Confirmations", String(request.confirmations)],
          ["Consumer", <PartyLink network={network} party={request.sender} full />],
          ["Subscription", request.subId],
          ["Pays in", nativePayment !== undefined && (nativePayment ? symbolOf(network) : "LINK")],
          ["Callback gas", groupDigits(request.callbackGasLimit)],
          ["Key hash", <Code text={request.keyHash} />],
          ["Pre-seed", <Code text={request.preSeed} />],
        ]}
      />
    </>
  );
}

/** Words of several proving keys that are joined. */
export function JoinSection({
  join,
  transaction,
}: {
  readonly join: JoinView;
  readonly transaction: TransactionPlace;
}) {
  const { requestId, requestedBy, parts, seed, joinedBy } = join;
  return (
    <section className="panel" data-join={requestId}>
      <h2>Words of {parts.length} keys, joined</h2>
      <p className="note">
        Nobody can choose the joined words as long as the operator of one of these keys is honest.
      </p>
      <Facts
        entries={[
          ["Outcome", <Joined parts={parts} joinedBy={joinedBy} />],
          ["Request", <Code text={requestId} />],
          ["Requested in", <In place={transaction} hash={requestedBy} />],
          ["Joined in", joinedBy !== null && <In place={transaction} hash={joinedBy} />],
          [
            <>
              Seed <small>word i is keccak256(seed, i)</small>
            </>,
            seed !== null && <Code text={seed} />,
          ],
        ]}
      />
      <List
        label="Parts"
        items={parts}
        keyOf={(part) => part.requestId}
        columns={[
          { head: "Key hash", cell: (part) => <Code text={part.keyHash} /> },
          { head: "VRF request", kind: "long", cell: (part) => <Code text={part.requestId} /> },
          {
            head: "Proof in",
            cell: ({ answeredBy }) => <In place={transaction} hash={answeredBy} />,
          },
        ]}
      />
    </section>
  );
}

function Joined({ parts, joinedBy }: Pick<JoinView, "parts" | "joinedBy">) {
  if (joinedBy !== null) return <Tag kind="good">joined</Tag>;
  const missing = parts.filter(({ answeredBy }) => answeredBy === null).length;
  if (missing === 0) return <Tag kind="bad">not joined: the consumer's callback failed</Tag>;
  return <Tag kind="busy">waiting for {count(missing, "word")}</Tag>;
}

function Outcome({ randomness: { outcome, commitment } }: { readonly randomness: RandomnessView }) {
  if (outcome === "fulfilled") return <Tag kind="good">{count(commitment.numWords, "word")} delivered</Tag>;
  if (outcome === "refused") return <Tag kind="bad">refused by the coordinator</Tag>;
  return (
    <>
      <Tag kind="bad">the consumer's callback failed</Tag>{" "}
      <span className="note">The words are final; the coordinator doesn't repeat the callback.</span>
    </>
  );
}

const PROOF_FIELDS: readonly (readonly [name: keyof ProofView, meaning: string])[] = [
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

function ProofTable({ proof }: { readonly proof: ProofView }) {
  return (
    <Scrollable label="Proof">
      <table className="values proof">
        <tbody>
          {PROOF_FIELDS.map(([name, meaning]) => (
            <tr key={name}>
              <th scope="row">
                {name}
                <small>{meaning}</small>
              </th>
              <td data-proof={name}>
                <Coordinates value={proof[name]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function Coordinates({ value }: { readonly value: ProofView[keyof ProofView] }) {
  if (typeof value === "string") return <Code text={value} />;
  return (
    <>
      <span className="coordinate">
        x <Code text={value[0]} />
      </span>
      <span className="coordinate">
        y <Code text={value[1]} />
      </span>
    </>
  );
}

function WordList({ words }: { readonly words: readonly string[] }) {
  return (
    <>
      <Words words={words} />
      <Folded summary="As 32 bytes">
        <Words words={words.map((word) => `0x${BigInt(word).toString(16).padStart(64, "0")}`)} />
      </Folded>
    </>
  );
}

function Words({ words }: { readonly words: readonly string[] }) {
  const items = (from: number, to: number) => (
    <ol className="words" start={from}>
      {words.slice(from, to).map((word, i) => (
        <li key={from + i}>
          <Code text={word} />
        </li>
      ))}
    </ol>
  );
  return (
    <>
      {items(0, OPEN_WORDS)}
      {words.length > OPEN_WORDS && (
        <Folded summary={`${words.length - OPEN_WORDS} more words`}>{items(OPEN_WORDS, words.length)}</Folded>
      )}
    </>
  );
}
