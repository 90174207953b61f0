import { UnknownText } from "./parts.tsx";

/** Which hosts a function names for its HTTP requests, and what these leave unproven. */
export function HttpPart({
  hosts,
  isError,
}: {
  /** Hosts that the source names; none if it builds all addresses. */
  readonly hosts: readonly string[];
  readonly isError: boolean;
}) {
  return (
    <>
      <p>
        {hosts.length === 0 ? (
          "The nodes made HTTP requests, to addresses that the source builds as it runs."
        ) : (
          <>
            The nodes made HTTP requests. The source names <UnknownText text={hosts.join(", ")} />.
          </>
        )}
      </p>
      <p className="note">
        The answers are not on chain. The nodes&rsquo; signatures prove that they agreed on this{" "}
        {isError ? "error" : "result"}, not that the answers were right.
      </p>
    </>
  );
}
