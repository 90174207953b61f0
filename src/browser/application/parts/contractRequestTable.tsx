import { Link } from "wouter";
import type { ContractRequestView } from "../../../client/index.ts";
import { useTitleOf } from "../services.tsx";
import { Age, ShortHex, TransactionLink } from "./format.tsx";
import { type Column, List } from "./list.tsx";
import { ResultText, Tag, type TagKind, UnknownText } from "./parts.tsx";
import { whatOf } from "./requestList.tsx";

/** A request that a contract made itself, on a network. */
export interface ContractRequest extends ContractRequestView {
  readonly network: string;
}

/** Requests that contracts made themselves, each with its outcome. */
export function ContractRequestTable({
  label,
  requests,
  isOneNetwork = false,
}: {
  readonly label: string;
  readonly requests: readonly ContractRequest[];
  /** Whether all are on the page's network, which they need not name. */
  readonly isOneNetwork?: boolean;
}) {
  const titleOf = useTitleOf();
  const network: Column<ContractRequest> = {
    head: "Network",
    kind: "name",
    cell: (one) => titleOf(one.network),
  };
  return (
    <List
      label={label}
      items={requests}
      keyOf={({ network, requestId }) => network + requestId}
      columns={[
        {
          head: "Request",
          kind: "long",
          cell: ({ network, requestId, kind, title, transactionHash }) => (
            <TransactionLink network={network} hash={transactionHash}>
              <UnknownText text={whatOf({ kind, title })} /> {requestId.slice(0, 10)}…
            </TransactionLink>
          ),
        },
        { head: "State", isPlain: true, cell: ({ state }) => <Tag kind={TAGS[state]}>{state}</Tag> },
        { head: "Result", kind: "long", cell: (request) => <Result request={request} /> },
        ...(isOneNetwork ? [] : [network]),
        {
          head: "Contract",
          cell: ({ network, consumer: { address } }) => (
            <Link href={`/explorer/${network}/address/${address}`}>
              <ShortHex text={address} />
            </Link>
          ),
        },
        { head: "Requested", cell: ({ at }) => at !== undefined && <Age iso={at} /> },
      ]}
    />
  );
}

const TAGS: Readonly<Record<ContractRequestView["state"], TagKind>> = {
  waiting: "busy",
  fulfilled: "good",
  failed: "bad",
};

function Result({ request }: { readonly request: ContractRequest }) {
  const { network, requestId, kind, answeredBy } = request;
  return (
    <>
      <Answer request={request} />
      {answeredBy !== undefined && (
        <>
          {" "}
          <TransactionLink network={network} hash={answeredBy}>
            {kind === "random" ? "proof" : "report"}
            <span className="visually-hidden"> of {requestId.slice(0, 10)}</span>
          </TransactionLink>
        </>
      )}
    </>
  );
}

function Answer({ request }: { readonly request: ContractRequestView }) {
  const { error, waitsFor, words, numWords = 0, response, readings } = request;
  if (error !== undefined)
    return (
      <span className="bad-text">
        <UnknownText text={error} />
      </span>
    );
  if (waitsFor !== undefined) return <UnknownText text={waitsFor} />;
  if (words !== undefined) {
    const more = numWords - 1;
    return (
      <>
        <code className="hex">{words[0]}</code>
        {more > 0 && ` and ${more} more`}
      </>
    );
  }
  return <ResultText text={readings?.text ?? readings?.uint256 ?? response ?? ""} />;
}
