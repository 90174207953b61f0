import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ExplorerNetwork, Verification } from "../../../../client/index.ts";
import { Time } from "../../parts/format.tsx";
import { Notice, UnknownText } from "../../parts/parts.tsx";
import { describeError } from "../../parts/forms.tsx";
import { verifierLink } from "../../parts/checkPart.tsx";
import { useSilent } from "../../parts/silence.tsx";
import { isRefused } from "../../refetch.ts";
import { useExplorer } from "../../services.tsx";
import { Found } from "./verifyPart.tsx";

/** How a check ended: with a verdict, or with the reason why there is none. */
interface Checked {
  readonly found?: Verification;
  readonly problem?: string;
  /** When it ended. */
  readonly at?: string;
}

/** The verdict on a shared result, which this page finds: the verifier computes every step in a frame, from chain data of the service's node. */
export function VerdictPart({
  id,
  known,
  hash,
  requestId,
  listId,
}: {
  readonly id: string;
  readonly known: ExplorerNetwork;
  readonly hash: string;
  readonly requestId: string;
  /** The list on the page that the result was drawn from. */
  readonly listId: string | undefined;
}) {
  const explorer = useExplorer();
  const { data, error } = useQuery({
    queryKey: ["chainData", id],
    queryFn: () => explorer.chainData(id),
    staleTime: Infinity,
  });
  const [{ found, problem, at }, setChecked] = useState<Checked>({});
  const isAwaited = data === undefined && !isRefused(error);
  const isUnanswered = useSilent([known.name], isAwaited ? undefined : false).length > 0 && isAwaited;
  const reason = problem ?? (error === null || isUnanswered ? undefined : describeError(error));
  return (
    <section id="verdict" aria-label="Verdict" aria-busy={found === undefined && reason === undefined}>
      {found !== undefined && (
        <Found found={found} isLocal={known.embedded} listId={listId}>
          {(steps) => (
            <>
              <p className="note on-screen">
                Your browser has computed {steps}, from chain data of this service&rsquo;s node.
              </p>
              <p className="on-paper">
                Checked
                {at !== undefined && (
                  <>
                    {" "}
                    <Time iso={at} />
                  </>
                )}
                : the browser that printed this has computed {steps}, from chain data of this service&rsquo;s
                node.
              </p>
            </>
          )}
        </Found>
      )}
      {found === undefined && reason === undefined && (
        <>
          <p className="on-screen">
            {isUnanswered
              ? "The chain doesn't answer now: your browser goes on to check this result once it does. The result stands as it was recorded."
              : "Your browser is checking this result …"}
          </p>
          <p className="on-paper">This result was not checked when it was printed.</p>
        </>
      )}
      {reason !== undefined && (
        <Notice>
          This page could not check the result: <UnknownText text={reason} />
        </Notice>
      )}
      {data !== undefined && (
        <iframe
          title="Verifier"
          hidden
          src={verifierLink(known, { tx: hash, request: requestId })}
          onLoad={({ currentTarget: { contentWindow } }) => {
            const { port1, port2 } = new MessageChannel();
            port1.addEventListener("message", (event: MessageEvent<Checked>) =>
              setChecked({ ...event.data, at: new Date().toISOString() }),
            );
            port1.start();
            contentWindow?.postMessage(JSON.stringify(data), location.origin, [port2]);
          }}
        />
      )}
    </section>
  );
}
