import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import type { EventView, TransactionView } from "../../../../client/index.ts";
import { Page } from "../../page.tsx";
import { CheckPart } from "../../parts/checkPart.tsx";
import { Coin } from "../../parts/coin.tsx";
import {
  BlockLink,
  Code,
  Copyable,
  count,
  groupDigits,
  PartyLink,
  Time,
  units,
} from "../../parts/format.tsx";
import { Facts, Folded, RawBytes, TransactionStatus, UnknownText, ValueTable } from "../../parts/parts.tsx";
import { refetchUnlessRefused } from "../../refetch.ts";
import { useExplorer, useTitleOf } from "../../services.tsx";
import { Found, useTrail } from "./explorerFrame.tsx";
import {
  FunctionRequestSection,
  FunctionResultSection,
  PresetRunSection,
  ReportSection,
} from "./functionSections.tsx";
import { nameOf, pageOf } from "../../parts/requestList.tsx";
import { JoinSection, RandomnessSection, RandomRequestSection } from "./randomnessSections.tsx";

const PENDING_MS = 500;
/** Confirmations grow, and requests get their answers. */
const MINED_MS = 5_000;

/** `/explorer/{network}/tx/{hash}`: a transaction with everything that can be decoded from it. */
export function Transaction() {
  const { network, hash } = useParams<{ readonly network: string; readonly hash: string }>();
  const explorer = useExplorer();
  const trail = useTrail(network);
  const query = useQuery({
    queryKey: ["transaction", network, hash],
    queryFn: () => explorer.transaction(network, hash),
    refetchInterval: refetchUnlessRefused<TransactionView>((data) =>
      data?.status === "pending" ? PENDING_MS : MINED_MS,
    ),
  });
  return (
    <Found query={query} network={network} hint={<Elsewhere hash={hash} network={network} />}>
      {(transaction) => (
        <Page title={`Transaction ${hash.slice(0, 10)}…`} trail={trail}>
          <Parts transaction={transaction} />
        </Page>
      )}
    </Found>
  );
}

/** Looks up on the other networks a transaction that this one doesn't have. */
function Elsewhere({ hash, network }: { readonly hash: string; readonly network: string }) {
  const explorer = useExplorer();
  const titleOf = useTitleOf();
  const query = useQuery({
    queryKey: ["search", hash],
    queryFn: () => explorer.search(hash),
    enabled: /^0x[0-9a-fA-F]{64}$/.test(hash),
  });
  const other = query.data?.hits.find((hit) => hit.kind === "transaction" && hit.network !== network);
  if (other === undefined) return null;
  return (
    <p>
      <Link className="action" href={`/explorer/${other.network}/tx/${hash}`}>
        Open it on {titleOf(other.network)}
      </Link>
    </p>
  );
}

function Parts({ transaction }: { readonly transaction: TransactionView }) {
  const {
    network,
    hash,
    events,
    moreEvents = 0,
    functionResults,
    randomness,
    presets,
    reports,
    input,
  } = transaction;
  const answeredPresets = presets.filter(({ answer }) => answer !== null);
  const answered = transaction.functionRequests.filter(({ answer }) => answer !== undefined);
  return (
    <>
      <h1>Transaction</h1>
      <p className="subject">
        <Copyable text={hash} what="transaction hash" />
      </p>
      <Requests transaction={transaction} />
      <section className="panel" id="overview" aria-label="Overview">
        <Overview transaction={transaction} />
      </section>
      {functionResults.map((one) => (
        <FunctionResultSection key={one.requestId} result={one} network={network} />
      ))}
      {answered.map((one) => (
        <FunctionRequestSection key={one.requestId} request={one} network={network} />
      ))}
      {answeredPresets.map((one) => (
        <PresetRunSection key={one.requestId} run={one} network={network} />
      ))}
      {transaction.joins.map((one) => (
        <JoinSection key={one.requestId} join={one} network={network} />
      ))}
      {randomness.map((one) => (
        <RandomnessSection key={one.requestId} randomness={one} network={network} />
      ))}
      {functionResults.length + randomness.length + answeredPresets.length > 0 && (
        <CheckPart network={network} hash={hash} />
      )}
      {transaction.functionRequests
        .filter(({ answer }) => answer === undefined)
        .map((one) => (
          <FunctionRequestSection key={one.requestId} request={one} network={network} />
        ))}
      {presets
        .filter(({ answer }) => answer === null)
        .map((one) => (
          <PresetRunSection key={one.requestId} run={one} network={network} />
        ))}
      {transaction.randomRequests.map((one) => (
        <RandomRequestSection key={one.requestId} request={one} network={network} />
      ))}
      {reports.map((one) => (
        <ReportSection key={one.digest} report={one} network={network} />
      ))}
      {input !== "0x" && <CallSection transaction={transaction} />}
      <section className="panel" id="events">
        <h2>
          Events <span className="count">{events.length + moreEvents}</span>
        </h2>
        {events.length === 0 && <p className="note">This transaction emitted no events.</p>}
        {events.map((event) => (
          <EventPart key={event.logIndex} event={event} network={network} />
        ))}
        {moreEvents > 0 && <p className="note">{moreEvents} more are not listed.</p>}
      </section>
    </>
  );
}

/** Number of requests that are named: a batch may have a hundred. */
const MAX_REQUESTS = 10;

/** Names the service's own requests that a transaction makes or answers. */
function Requests({ transaction: { requests = [] } }: { readonly transaction: TransactionView }) {
  if (requests.length === 0) return null;
  return (
    <ul className="hits" aria-label="Requests">
      {requests.slice(0, MAX_REQUESTS).map((one) => (
        <li key={one.id}>
          <Link href={pageOf(one)}>
            <UnknownText text={nameOf(one)} />
          </Link>
          {one.result === undefined && (
            <>
              {" "}
              <span className="note">{one.state === "failed" ? "failed" : "waiting"}</span>
            </>
          )}
        </li>
      ))}
      {requests.length > MAX_REQUESTS && <li>{requests.length - MAX_REQUESTS} more</li>}
    </ul>
  );
}

function Overview({ transaction }: { readonly transaction: TransactionView }) {
  const { network, status, block, from, to, created, call, gasUsed, gasLimit, gasPriceWei } = transaction;
  const used = gasUsed === null ? "" : `${groupDigits(gasUsed)} used of `;
  const fee = gasUsed === null ? undefined : (BigInt(gasUsed) * BigInt(gasPriceWei)).toString();
  const price = units((BigInt(gasPriceWei) * 10n ** 9n).toString(), "gwei");
  return (
    <Facts
      entries={[
        ["Status", <TransactionStatus status={status} />],
        ["Why", transaction.revertReason !== undefined && <UnknownText text={transaction.revertReason} />],
        [
          "Block",
          block !== null && (
            <>
              <BlockLink network={network} number={block.number} />{" "}
              <span className="note">{count(block.confirmations, "confirmation")}</span>
            </>
          ),
        ],
        ["Time", block !== null && <Time iso={block.at} />],
        ["From", <PartyLink network={network} party={from} full />],
        ["To", to !== null && <PartyLink network={network} party={to} full />],
        ["Created contract", created !== null && <PartyLink network={network} party={created} full />],
        ["Called function", call !== null && <Code text={call.function} />],
        ["Value", <Coin wei={transaction.valueWei} network={network} />],
        ["Fee", fee !== undefined && <Coin wei={fee} network={network} />],
        ["Gas", `${used}${groupDigits(gasLimit)}, at ${price}`],
        ["Nonce", String(transaction.nonce)],
        ["Index in block", transaction.index !== null && String(transaction.index)],
      ]}
    />
  );
}

function CallSection({
  transaction: { network, to, call, input },
}: {
  readonly transaction: TransactionView;
}) {
  const bytes = groupDigits((input.length - 2) / 2);
  return (
    <section className="panel" id="call">
      <h2>{to === null ? "Creation" : "Call"}</h2>
      {to !== null &&
        (call === null ? (
          <p className="note">No known interface has this function.</p>
        ) : (
          <Folded
            summary={
              <>
                Arguments of <code>{call.function}</code>
              </>
            }
          >
            <div className="scroll">
              <ValueTable values={call.arguments} network={network} />
            </div>
          </Folded>
        ))}
      <Folded summary={to === null ? `Creation code, ${bytes} bytes` : `Calldata, ${bytes} bytes`}>
        <RawBytes hex={input} label={to === null ? "Creation code" : "Calldata"} />
      </Folded>
    </section>
  );
}

function EventPart({
  event: { logIndex, contract, event, fields, topics, data },
  network,
}: {
  readonly event: EventView;
  readonly network: string;
}) {
  const raw = (
    <table className="values">
      <tbody>
        {topics.map((topic, i) => (
          <tr key={i}>
            <th scope="row">topic {i}</th>
            <td>
              <Code text={topic} />
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">data</th>
          <td>{data.length > 200 ? <RawBytes hex={data} label="Data" /> : <Code text={data} />}</td>
        </tr>
      </tbody>
    </table>
  );
  return (
    <Folded
      summary={
        <>
          <span className="index">{logIndex}</span> <b>{event ?? "Unknown event"}</b>{" "}
          <span className="note">{contract.name ?? contract.address}</span>
        </>
      }
    >
      <p className="note">
        From <PartyLink network={network} party={contract} full />
      </p>
      <div className="scroll">
        {event === undefined ? (
          raw
        ) : (
          <>
            <ValueTable values={fields} network={network} />
            <Folded summary="Topics and data">{raw}</Folded>
          </>
        )}
      </div>
    </Folded>
  );
}
