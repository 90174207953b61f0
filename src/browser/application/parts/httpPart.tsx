import { isDisagreement } from "../../../text/failure.ts";
import { UnknownText } from "./parts.tsx";

/** Which hosts a function names for its HTTP requests, and what these leave unproven. */
export function HttpPart({
  hosts,
  error,
}: {
  /** Hosts that the source names; none if it builds all addresses. */
  readonly hosts: readonly string[];
  /** What the function ended with; empty after a success. */
  readonly error: string;
}) {
  return (
    <p>
      {hosts.length === 0 ? (
        "The nodes made HTTP requests, to addresses that the source builds as it runs."
      ) : (
        <>
          The nodes made HTTP requests; the source names <UnknownText text={hosts.join(", ")} />.
        </>
      )}{" "}
      The answers are not on chain: the nodes&rsquo; signatures prove that{" "}
      {isDisagreement(error)
        ? "they came to different outcomes, not which of the answers was right."
        : `they agreed on this ${error === "" ? "result" : "error"}, not that the answers were right.`}
    </p>
  );
}
