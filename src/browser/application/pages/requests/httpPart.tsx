import { count } from "../../parts/format.tsx";
import { UnknownText } from "../../parts/parts.tsx";

/** Whom a function's nodes asked, and what of its result that leaves unproven. */
export function HttpPart({
  hosts,
  signers,
  isError,
}: {
  /** Hosts that the source names; none if it builds all addresses. */
  readonly hosts: readonly string[];
  /** Number of nodes that signed the report. */
  readonly signers: number;
  readonly isError: boolean;
}) {
  return (
    <>
      <p>
        {hosts.length === 0 ? (
          "The nodes made HTTP requests, to addresses that the source builds as it runs."
        ) : (
          <>
            The nodes asked <UnknownText text={hosts.join(", ")} /> over HTTP: the hosts that the source
            names.
          </>
        )}
      </p>
      <p className="note">
        What they were answered is not on chain, and may be something else the next time, so nobody can repeat
        this run. It is proven that {count(signers, "node")} of the oracle agreed on this{" "}
        {isError ? "error" : "result"} of this source and signed it, but not that the answers were right.
      </p>
    </>
  );
}
