import { useState } from "react";
import { describeDraw, describeTimes } from "../../../../lib/drawWords.ts";
import { describeLabel } from "../../../../lib/label.ts";
import {
  OUTCOME_MARKS,
  OUTCOME_WORDS,
  VERDICT_OUTCOMES,
  VERDICT_WORDS,
  verdictReasons,
} from "../../../../lib/verificationWords.ts";
import type { TycheClient, Verification, VerificationStep } from "../../../../client/index.ts";
import { announce } from "../../announce.ts";
import { describeError } from "../../parts/forms.tsx";
import { Folded, Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import type { AnyPresets } from "../../services.tsx";

const TAG_KINDS = { ok: "good", failed: "bad", notApplicable: "quiet" } as const;

/** A button that has the service check a result against chain data, and the steps of that check. */
export function VerifyPart({
  client,
  network,
  hash,
  requestId,
}: {
  readonly client: TycheClient<AnyPresets>;
  readonly network: string;
  readonly hash: string;
  readonly requestId: string;
}) {
  const [found, setFound] = useState<Verification>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const verify = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const next = await client.verify({ network, tx: hash, requestId });
      setFound(next);
      announce(`Verdict: ${VERDICT_WORDS[next.verdict]}.`);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  const request = found?.requests[0];
  return (
    <section className="panel" id="verify" aria-label="Verify">
      <h2>
        Verify{" "}
        {found !== undefined && (
          <Tag kind={TAG_KINDS[VERDICT_OUTCOMES[found.verdict]]}>{VERDICT_WORDS[found.verdict]}</Tag>
        )}
      </h2>
      <p className="note">
        The service computes every step again from chain data: the proof, the words, the signatures, the run
        of the source.
      </p>
      {problem !== undefined && (
        <Notice kind="bad">
          <UnknownText text={problem} />
        </Notice>
      )}
      {found !== undefined &&
        verdictReasons(found).map((reason) => (
          <p key={reason}>
            <UnknownText text={reason} />
          </p>
        ))}
      {request !== undefined && (
        <>
          {[describeDraw(request), describeTimes(request), describeLabel(request.label)].map(
            (line) =>
              line !== undefined && (
                <p key={line}>
                  <UnknownText text={line} />
                </p>
              ),
          )}
        </>
      )}
      {request !== undefined && (
        <ol className="checks">
          {/* Joined words have steps of the same name, one per word. */}
          {request.steps.map((step, i) => (
            <Step key={i} step={step} />
          ))}
        </ol>
      )}
      <button type="button" aria-disabled={isBusy} onClick={() => !isBusy && void verify()}>
        {isBusy ? "Verifying…" : found === undefined ? "Verify" : "Verify again"}
      </button>
      {found !== undefined && (
        <Folded summary="What these checks can't show">
          <ul>
            {found.trust.map((text) => (
              <li key={text}>
                <UnknownText text={text} />
              </li>
            ))}
          </ul>
        </Folded>
      )}
    </section>
  );
}

function Step({ step: { name, outcome, detail, compared } }: { readonly step: VerificationStep }) {
  return (
    <li className={outcome}>
      <b>
        <svg className="mark" viewBox="0 0 12 12" aria-hidden="true">
          <path d={OUTCOME_MARKS[outcome]} />
        </svg>
        <span className="visually-hidden">{OUTCOME_WORDS[outcome]}:</span> {name}
      </b>{" "}
      <span className="note">
        <UnknownText text={detail} />
      </span>
      {compared.length > 0 && (
        <Folded summary="Numbers" isOpen={outcome === "failed"}>
          <table className="values">
            <tbody>
              {compared.map(({ what, expected, found }) => (
                <tr key={what}>
                  <th scope="row">{what}</th>
                  <td>
                    <code className="hex">
                      <UnknownText text={found} />
                    </code>
                    {expected !== found && (
                      <span className="bad-text">
                        {" "}
                        instead of <UnknownText text={expected} />
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Folded>
      )}
    </li>
  );
}
