import { Link } from "wouter";
import type { RequestView } from "../../../client/index.ts";
import { Age } from "./format.tsx";
import { Scrollable, UnknownText } from "./parts.tsx";
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
    <Scrollable label="List of requests">
      <table className="list">
        <thead>
          <tr>
            <th>Request</th>
            <th>State</th>
            <th>Result</th>
            <th>Network</th>
            <th>Received</th>
          </tr>
        </thead>
        <tbody>
          {requests.map((request) => (
            <tr key={request.id}>
              <td>
                <Link href={`/dapps/${dappId}/requests/${request.id}`}>
                  <UnknownText text={summaryOf(request)} />
                </Link>
              </td>
              <td>
                <StateTag state={request.state} />
              </td>
              <td className="outcome">
                <ResultInList request={request} />
              </td>
              <td className="name">{titleOf(request.network)}</td>
              <td>
                <Age iso={request.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}
