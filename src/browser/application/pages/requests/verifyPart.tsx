import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import { describeDraw, describeTimes, shorten } from "../../../../text/draw.ts";
import { describeDraws, describeLabel } from "../../../../domain/label.ts";
import {
  describeAdvice,
  describeCheating,
  describeFailedVerdict,
  describeGenuine,
  describeProven,
  describeSteps,
  describeUnconfirmed,
  describeVerdict,
  OUTCOME_MARKS,
  OUTCOME_TEXT,
  verdictReasons,
} from "../../../../text/verification.ts";
import type { TycheClient, Verification, VerificationStep } from "../../../../client/index.ts";
import { announce } from "../../announce.ts";
import { sentence } from "../../page.tsx";
import { describeError } from "../../parts/forms.tsx";
import { Folded, Listing, Notice, Tag, UnknownText } from "../../parts/parts.tsx";
import { useNetworks, usePresets, type AnyPresets } from "../../services.tsx";

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
  const { data: networks } = useNetworks();
  const isLocal = networks?.find(({ name }) => name === network)?.embedded !== false;
  const verify = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const next = await client.verify({ network, tx: hash, requestId });
      setFound(next);
      announce(`Verdict: ${describeVerdict(next).words}.`);
    } catch (error) {
      setProblem(describeError(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="panel" id="verify" aria-label="Verify">
      {found === undefined ? (
        <>
          <h2>Verify</h2>
          <p>The service computes every step again from chain data.</p>
        </>
      ) : (
        <Found found={found} isLocal={isLocal}>
          {(steps) => <p className="note">The service has computed {steps} again from chain data.</p>}
        </Found>
      )}
      {problem !== undefined && (
        <Notice kind="bad">
          <UnknownText text={problem} />
        </Notice>
      )}
      <button type="button" aria-disabled={isBusy} onClick={() => !isBusy && void verify()}>
        {isBusy ? "Verifying…" : found === undefined ? "Verify" : "Verify again"}
      </button>
    </section>
  );
}

/** A verdict on one request, in plain words; `children` say who computed which steps. The steps, and what they can't show, are folded. */
export function Found({
  found,
  isLocal,
  listId,
  children,
}: {
  readonly found: Verification;
  /** The list on the page that the result was drawn from. */
  readonly listId?: string | undefined;
  /** Whether the operator of the service runs the chain. */
  readonly isLocal: boolean;
  readonly children: (steps: string) => ReactNode;
}) {
  const [request] = found.requests;
  const times = request && describeTimes(request);
  const reasons = verdictReasons(found);
  const { words, outcome } = describeVerdict(found);
  const failure = describeFailedVerdict(found);
  const proven = describeProven(found, isLocal);
  const answer = describeCheating(found, isLocal);
  const isUnconfirmed = found.verdict === "unconfirmed";
  const said = isUnconfirmed ? describeUnconfirmed(found) : failure;
  const headline = outcome === "ok" ? describeGenuine(request?.kind ?? "function", isLocal) : said?.headline;
  const signatures = request?.steps.find(({ name }) => name === "signatures");
  const verdict = <Tag kind={TAG_KINDS[outcome]}>{said?.short ?? words}</Tag>;
  return (
    <>
      {headline === undefined ? (
        <h2 className="verdict">{verdict}</h2>
      ) : (
        <div className="verdict">
          <h2>
            <Mark outcome={outcome} />
            {headline}
          </h2>{" "}
          {verdict}
        </div>
      )}
      {answer !== undefined && <p>{answer}</p>}
      {children(isUnconfirmed ? "every other step" : "every step")}
      {reasons.map((reason) => (
        <p key={reason} className="sentence">
          <UnknownText text={reason} />
        </p>
      ))}
      {isUnconfirmed && signatures?.outcome === "ok" && (
        <p>
          <UnknownText text={sentence(signatures.detail)} />
        </p>
      )}
      {isUnconfirmed && <p className="note">{describeAdvice(found)}</p>}
      {request?.label && <p>{describeDraws(request.label, request.kind)}</p>}
      {proven === undefined && request?.label === null && <p className="note">{describeLabel(null)}</p>}
      {answer === undefined && proven !== undefined && <p>{proven}</p>}
      <div className="printed">
        {request !== undefined && (
          <Folded
            summary={describeSteps(request.steps)}
            isOpen={!["valid", "unconfirmed"].includes(found.verdict)}
          >
            {request.label && (
              <p>
                <UnknownText text={describeLabel(request.label)} />
              </p>
            )}
            <DrawLine text={describeDraw(request, LONG_FROM)} />
            {listId !== undefined && (
              <p className="on-screen">
                <a href={`#${listId}`}>The list that it was drawn from</a>
              </p>
            )}
            {times !== undefined && (
              <p>
                <UnknownText text={times} />
              </p>
            )}
            <ol className="checks">
              {/* Joined words have steps of the same name, one per word. */}
              {request.steps.map((step, i) => (
                <Step key={i} step={step} />
              ))}
            </ol>
          </Folded>
        )}
      </div>
      {typeof request?.source === "string" && (
        <Folded
          summary="The source that was run"
          isOpen={request.kind === "function" && isShort(request.source)}
        >
          {request.preset !== null && <PresetSource name={request.preset.name} />}
          <Listing text={request.source} label="Source" />
        </Folded>
      )}
      <div className="printed">
        <Folded summary="What you still have to trust">
          {answer !== undefined && <p>{proven}</p>}
          <ul>
            {found.trust.map((text) => (
              <li key={text}>
                <UnknownText text={text} />
              </li>
            ))}
          </ul>
        </Folded>
      </div>
    </>
  );
}

/** Says what a preset does, above its source as it is on chain. */
function PresetSource({ name }: { readonly name: string | null }) {
  const { data } = usePresets();
  const known = data?.find((one) => one.name === name);
  return (
    <p className="note">
      {known !== undefined && (
        <>
          <UnknownText text={known.description} />{" "}
        </>
      )}
      On chain it stands without comments, line breaks and long names.
      {known !== undefined && (
        <>
          {" "}
          <Link href={`/presets/${known.name}`}>As its author wrote it</Link>, it does the same and is easier
          to read.
        </>
      )}
    </p>
  );
}

/** A function's source is open up to this length; that of a preset has a page of its own. */
const MAX_OPEN = { lines: 15, characters: 1_000 };

function isShort(source: string): boolean {
  return source.length <= MAX_OPEN.characters && source.split("\n").length <= MAX_OPEN.lines;
}

/** Lists from this length on are only counted among the steps: the page has them in full. */
const LONG_FROM = 20;

/** Shows what was drawn from: shortened if it is long, and whole once it is opened. */
function DrawLine({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null;
  const short = shorten(text);
  const whole = (
    <p>
      <UnknownText text={text} />
    </p>
  );
  return short === text ? whole : <Folded summary={<UnknownText text={short} />}>{whole}</Folded>;
}

function Mark({ outcome }: { readonly outcome: VerificationStep["outcome"] }) {
  return (
    <svg className={`mark ${outcome}`} viewBox="0 0 12 12" aria-hidden="true">
      <path d={OUTCOME_MARKS[outcome]} />
    </svg>
  );
}

function Step({ step: { name, outcome, detail, compared } }: { readonly step: VerificationStep }) {
  return (
    <li className={outcome}>
      <b>
        <Mark outcome={outcome} />
        <span className="visually-hidden">{OUTCOME_TEXT[outcome]}:</span> {name}
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
