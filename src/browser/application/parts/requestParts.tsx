import type { BeaconView, PresetRunView, RequestState, RequestView } from "../../../client/index.ts";
import { cut } from "../../../lib/cut.ts";
import { addressOfBeacon, nameBeacon } from "../../../text/draw.ts";
import { spelledLabel } from "../../../domain/label.ts";
import { lineOf, nameFunction } from "../../../text/sharedResult.ts";
import { sentence } from "../page.tsx";
import { usePresets } from "../services.tsx";
import { count, Time, useNow } from "./format.tsx";
import { Notice, ResultText, Tag, UnknownText } from "./parts.tsx";

/** Longest text in a list, in UTF-16 code units. */
const MAX_SHOWN = 80;

/** A request's state as a colored word. */
export function StateTag({ state }: { readonly state: RequestState }) {
  return <Tag kind={state === "fulfilled" ? "good" : state === "failed" ? "bad" : "busy"}>{state}</Tag>;
}

/** The round that a request waits for, or has got. */
export function Beacon({ beacon }: { readonly beacon: BeaconView | NonNullable<PresetRunView["beacon"]> }) {
  const now = useNow();
  const address = addressOfBeacon(beacon);
  return (
    <>
      {address === undefined ? (
        nameBeacon(beacon)
      ) : (
        <a href={address} rel="noreferrer">
          {nameBeacon(beacon)}
        </a>
      )}
      {beacon.time !== null && (
        <>
          {Date.parse(beacon.time) > now ? ", due" : ", of"} <Time iso={beacon.time} />
        </>
      )}
      {beacon.isLocal === true && ": the service signs it itself, so it proves nothing"}
    </>
  );
}

/** Summarizes a request in a few words, and says what it is for. */
export function summaryOf(
  request: Pick<RequestView, "kind" | "params" | "givenLabel">,
  title?: string,
): string {
  const label = spelledLabel({ ...(request.params as { label?: string }), givenLabel: request.givenLabel });
  const what = title ?? whatOf(request);
  return label === undefined ? what : `${what}: ${label}`;
}

function whatOf({ kind, params }: Pick<RequestView, "kind" | "params">): string {
  const { preset, numWords, consumer } = params as { preset?: string; numWords?: number; consumer?: string };
  if (kind === "preset") return preset ?? "Preset";
  if (kind === "random") return count(numWords ?? 0, "random number");
  if (kind === "unlink") return `Unlink ${shorten(consumer ?? "")}`;
  if (kind === "consumer") return `Link ${shorten(consumer ?? "")}`;
  return nameSource(params) ?? "Function";
}

function nameSource(params: RequestView["params"]): string | undefined {
  const { source, args = [] } = params as { source?: string; args?: string[] };
  return source === undefined ? undefined : nameFunction({ source, args });
}

/** Returns a function that gives requests' titles, as the public pages of their results have them; `undefined` where there is none. */
export function useTitleOfRequest(): (request: Pick<RequestView, "kind" | "params">) => string | undefined {
  const { data } = usePresets();
  return ({ kind, params }) =>
    kind === "preset" ? data?.find(({ name }) => name === params["preset"])?.title : nameSource(params);
}

/** Why a request ended without a result, and where the docs say what its code means. */
export function ErrorNotice({
  error: { code, message },
}: {
  readonly error: NonNullable<RequestView["error"]>;
}) {
  return (
    <Notice kind="bad">
      <UnknownText text={sentence(message)} />{" "}
      <a href={`/docs#error-${code}`} title={`What the code ${code} means`}>
        What to do
      </a>
    </Notice>
  );
}

/** A request's result in a list; while it is pending, why it is waiting. */
export function ResultInList({ request: { outcome, error, why, shown } }: { readonly request: RequestView }) {
  if (error !== null) return <Bad text={cut(error.message, MAX_SHOWN)} />;
  if (outcome === null)
    return why === null ? null : (
      <span className="note">
        <UnknownText text={why} />
      </span>
    );
  if ("randomNumber" in outcome) return cut(outcome.randomNumber.join(", "), MAX_SHOWN);
  if (!("parsedResult" in outcome)) return null;
  if (!outcome.success) return <Bad text={cut(outcome.err, MAX_SHOWN)} />;
  return <ResultText text={cut(shown === undefined ? outcome.parsedResult : lineOf(shown), MAX_SHOWN)} />;
}

/** Why there is no result. */
export function Bad({ text }: { readonly text: string }) {
  return (
    <span className="bad-text">
      <UnknownText text={text} />
    </span>
  );
}

function shorten(address: string): string {
  return `${address.slice(0, 8)}…${address.slice(-4)}`;
}
