import { Link } from "wouter";
import type { RequestSummary } from "../../../client/index.ts";
import { cut } from "../../../lib/cut.ts";
import { spelledLabel } from "../../../domain/label.ts";
import { useShortTitleOf } from "../services.tsx";
import { Age, ShortHex } from "./format.tsx";
import { type Column, List } from "./list.tsx";
import { ResultText, Tag, UnknownText } from "./parts.tsx";
import { Bad } from "./requestParts.tsx";

/** Longer results are cut: so many digits fit in one line on a phone. */
const MAX_RESULT = 32;

/** A request in a list. */
export interface ListedRequest {
  readonly requestId: string;
  readonly network: string;
  /** What is asked for, and what for. */
  readonly name: string;
  /** The result, or why there is none; `undefined` until it is known. */
  readonly answer: { readonly text: string; readonly isError: boolean } | undefined;
  readonly href: string;
  readonly at: string;
  /** Id of the dapp that gave it a label. */
  readonly dappId?: string | undefined;
}

/** Names a request by what it asks for, and by its label. */
function nameOf(request: RequestSummary): string {
  const { kind, title, requestId } = request;
  const what = whatOf(request);
  const label = spelledLabel(request);
  if (label !== undefined) return `${what}: ${label}`;
  // Functions whose source is gone are told apart by their ids.
  return kind === "function" && title === undefined ? `${what} ${requestId.slice(0, 10)}…` : what;
}

/** Names what a request asks for. */
export function whatOf({
  kind,
  title,
}: Pick<RequestSummary, "kind"> & { readonly title?: string | undefined }): string {
  return title ?? { preset: "Preset", random: "Random numbers", function: "Function" }[kind];
}

/** Returns the page of a request, which waits for its result, too. */
export function pageOf({ id }: Pick<RequestSummary, "id">): string {
  return `/r/${id}`;
}

export function listed(request: RequestSummary): ListedRequest {
  const { requestId, network, at, state, result, success, dappId } = request;
  const failed = state === "failed" ? { text: "failed", isError: true } : undefined;
  const answer = result === undefined ? failed : { text: result, isError: success === false };
  return { requestId, network, at, answer, dappId, name: nameOf(request), href: pageOf(request) };
}

/** A table of requests, in the given order: newest first. */
export function RequestList({
  label,
  requests,
  hasOrganisers = false,
  isOneNetwork = false,
}: {
  readonly label: string;
  readonly requests: readonly ListedRequest[];
  /** Whether to say whose requests with a label are. */
  readonly hasOrganisers?: boolean;
  /** Whether they are of the network that the page is about, which need not be named. */
  readonly isOneNetwork?: boolean;
}) {
  const titleOf = useShortTitleOf();
  return (
    <List
      label={label}
      items={requests}
      keyOf={({ network, requestId }) => `${network} ${requestId}`}
      columns={[
        {
          head: "Request",
          kind: "long",
          cell: ({ href, name }) => (
            <Link href={href}>
              <UnknownText text={name} />
            </Link>
          ),
        },
        { head: "Result", kind: "long", cell: ({ answer }) => <Answer answer={answer} /> },
        ...(isOneNetwork
          ? []
          : [
              {
                head: "Network",
                kind: "name" as const,
                isPlain: true,
                cell: ({ network }: ListedRequest) => titleOf(network),
              },
            ]),
        { head: "Time", isPlain: true, cell: ({ at }) => <Age iso={at} /> },
        ...(hasOrganisers && requests.some(({ dappId }) => dappId !== undefined) ? [ORGANISER] : []),
      ]}
    />
  );
}

/** Column that says whose requests with a label are, and leads to the others of the same. */
export const ORGANISER: Column<{ readonly dappId?: string | undefined }> = {
  head: "Organiser",
  cell: ({ dappId }) =>
    dappId !== undefined && (
      <Link href={`/explorer/requests?dapp=${dappId}`}>
        <ShortHex text={dappId} />
      </Link>
    ),
};

/** A result in a list, or that there is none. */
export function Answer({ answer }: Pick<ListedRequest, "answer">) {
  if (answer === undefined) return <Tag kind="busy">waiting</Tag>;
  const text = cut(answer.text, MAX_RESULT);
  return answer.isError ? <Bad text={text} /> : <ResultText text={text} />;
}
