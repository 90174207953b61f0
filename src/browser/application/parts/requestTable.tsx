import { Link } from "wouter";
import type { RequestView } from "../../../client/index.ts";
import { Age } from "./format.tsx";
import { List } from "./list.tsx";
import { UnknownText } from "./parts.tsx";
import { ResultInList, StateTag, summaryOf } from "./requestParts.tsx";
import { useTitleOf } from "../services.tsx";

/** A table of requests, each with a link to its page. */
export function RequestTable({
  requests,
  dappId,
}: {
  readonly requests: readonly RequestView[];
  readonly dappId: string;
}) {
  const titleOf = useTitleOf();
  return (
    <List
      label="List of requests"
      items={requests}
      keyOf={({ id }) => id}
      columns={[
        {
          head: "Request",
          kind: "long",
          cell: (request) => (
            <Link href={`/dapps/${dappId}/requests/${request.id}`}>
              <UnknownText text={summaryOf(request)} />
            </Link>
          ),
        },
        { head: "State", isPlain: true, cell: ({ state }) => <StateTag state={state} /> },
        { head: "Result", kind: "long", cell: (request) => <ResultInList request={request} /> },
        { head: "Network", kind: "name", cell: ({ network }) => titleOf(network) },
        { head: "Received", cell: ({ createdAt }) => <Age iso={createdAt} /> },
      ]}
    />
  );
}
