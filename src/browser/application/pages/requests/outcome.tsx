import { capitalize } from "../../../../lib/capitalize.ts";
import type { RequestView } from "../../../../client/index.ts";
import { lineOf, resultClass } from "../../../../text/sharedResult.ts";
import { explainFailure, isDisagreement, nameFailure } from "../../../../text/failure.ts";
import { indentJson } from "../../parts/indentJson.ts";
import { isWordLong } from "../../parts/isWordLong.ts";
import { Copyable, CopyButton } from "../../parts/format.tsx";
import { Listing, ResultText, UnknownText, Warnings } from "../../parts/parts.tsx";
import { Shown } from "../../parts/shown.tsx";
import { isText } from "../../../../lib/hiddenCharacters.ts";

/** A request's result in large type, displayed as its preset specifies; nothing while there is none. */
export function OutcomePart({
  outcome,
  shown,
  places,
}: Pick<RequestView, "outcome" | "shown"> & {
  /** Where the entries of a result stand in the list that they were drawn from. */
  readonly places?: ReadonlyMap<string, string> | undefined;
}) {
  if (outcome === null) return null;
  if ("randomNumber" in outcome) return <Numbers words={outcome.randomNumber} />;
  if (!("parsedResult" in outcome)) return null;
  const warnings = "warnings" in outcome && <Warnings warnings={outcome.warnings} />;
  if (!outcome.success)
    return (
      <>
        <Failure isDraw={"vrfv2Hash" in outcome} error={outcome.err} />
        {warnings}
      </>
    );
  const { parsedResult } = outcome;
  const type = "vrfv2Hash" in outcome ? undefined : typeOf(outcome.result, parsedResult);
  // Bytes that are no text are shown in hex.
  const text = type === "Bytes" ? outcome.result : parsedResult;
  return (
    <>
      {shown === undefined ? <TextResult text={text} type={type} /> : <Shown shown={shown} places={places} />}
      <p>
        <CopyButton text={shown === undefined ? text : lineOf(shown)} what="result" />
      </p>
      {warnings}
    </>
  );
}

function typeOf(bytes: string, text: string): string {
  if (isWordLong(bytes) && /^-?\d+$/.test(text))
    if (BigInt(bytes) === BigInt.asUintN(256, BigInt(text))) return "Whole number";
  if (!isText(text)) return "Bytes";
  return indentJson(text) === undefined ? "Text" : "JSON";
}

/** JSON is indented; it is copied as it is on chain. */
function TextResult({ text, type }: { readonly text: string; readonly type: string | undefined }) {
  const indented = indentJson(text);
  if (indented !== undefined) return <Listing text={indented} label="JSON" />;
  return (
    <p className={resultClass(text)}>
      <span>
        <ResultText text={text} />
      </span>
      {type !== undefined && (
        <>
          {" "}
          <small className="note whole">{type}</small>
        </>
      )}
    </p>
  );
}

/** A single number needs no list; of several, each is known by its place. */
function Numbers({ words }: { readonly words: readonly string[] }) {
  const [only, ...others] = words;
  if (only !== undefined && others.length === 0)
    return (
      <>
        <p className="big-result number">{only}</p>
        <p>
          <CopyButton text={only} what="random number" />
        </p>
        <p className="note">It is a whole number from {RANGE}</p>
      </>
    );
  return (
    <>
      <ol className="words">
        {words.map((word, i) => (
          <li key={i}>
            <Copyable text={word} what="random number" />
          </li>
        ))}
      </ol>
      <p>
        <CopyButton text={words.join("\n")} what="random numbers" label="Copy all" />
      </p>
      <p className="note">Each is a whole number from {RANGE}</p>
    </>
  );
}

const RANGE = (
  <>
    0 to 2<sup>256</sup> − 1, each as likely as any other.
  </>
);

/** A source's error, which is on chain in place of a result. */
function Failure({ isDraw, error }: { readonly isDraw: boolean; readonly error: string }) {
  const explanation = explainFailure(error);
  return (
    <>
      <p className="big-result bad-text">{capitalize(nameFailure(isDraw))}</p>
      <div className="notice bad">
        <UnknownText text={error} />
      </div>
      {explanation !== undefined && <p>{explanation}</p>}
      <p>
        {isDisagreement(error)
          ? "What the program read differed from node to node, such as the answers to its HTTP requests, the time or a random number, unless the program itself threw these words. The nodes signed that."
          : `The oracle's nodes signed that this is what came of the program${isDraw ? " with these inputs" : ""}: it is no error of the chain.`}{" "}
        There is no result, and none will follow.
      </p>
    </>
  );
}
