import { capitalize } from "../../lib/capitalize.ts";
import type { UseQueryResult } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { ApiError } from "../../client/index.ts";
import { Time } from "./parts/format.tsx";
import { Notice, UnknownText } from "./parts/parts.tsx";
import { Silence, type Chains } from "./parts/silence.tsx";

/** A page above the current one. */
export interface TrailEntry {
  readonly href: string;
  readonly text: string;
}

/** Whether there is a surrounding page; a failure is then shown as part of it. */
const InPage = createContext(false);

/** One page: sets the tab's title, shows where in the application the page is, and says which of its chains don't answer. */
export function Page({
  title,
  trail = [],
  chains,
  lookMs,
  children,
}: {
  readonly title: string;
  readonly trail?: readonly TrailEntry[];
  /** Networks whose silence is reported above the page. Default: none. */
  readonly chains?: Chains | undefined;
  /** How often it looks whether they answer, in ms. Default: 4,000. */
  readonly lookMs?: number | undefined;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Tyche`;
  }, [title]);
  return (
    <>
      {trail.length > 0 && (
        <nav className="trail" aria-label="Path">
          {trail.map(({ href, text }, i) => (
            <span key={href}>
              {i > 0 && <span aria-hidden="true"> / </span>}
              <Link href={href}>{text}</Link>
            </span>
          ))}
        </nav>
      )}
      {chains !== undefined && <Silence chains={chains} lookMs={lookMs} />}
      <InPage value>{children}</InPage>
    </>
  );
}

/** What is shown of a query. */
export type Reading<Data> = Pick<
  UseQueryResult<Data>,
  "data" | "dataUpdatedAt" | "error" | "errorUpdateCount" | "isFetching"
>;

/**
 * Renders a query's data once it is available, or says why it can't be had; above old data, why there are no newer ones. Whatever becomes
 * of the query, a page stays the same element, with what was typed into it.
 */
export function Loaded<Data>({
  query,
  isQuiet = false,
  meanwhile,
  children,
}: {
  readonly query: Reading<Data>;
  /** Whether the page says elsewhere why there are no newer data. */
  readonly isQuiet?: boolean;
  /** Shown while there are none. Default: why not. */
  readonly meanwhile?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}) {
  const { data, dataUpdatedAt } = query;
  const error = useFailure(query);
  return (
    <>
      {/* The frame around every page says when the service can't be reached. */}
      {data !== undefined && !isQuiet && error instanceof ApiError && (
        <Outdated error={error} readAt={dataUpdatedAt} />
      )}
      {data !== undefined
        ? children(data)
        : (meanwhile ?? (error === null ? <Loading /> : <Refusal error={error} />))}
    </>
  );
}

/** Returns why a query failed last: also while it is tried again, which makes a query without data forget it. */
export function useFailure({
  data,
  error,
  errorUpdateCount,
}: Pick<UseQueryResult, "data" | "error" | "errorUpdateCount">): Error | null {
  const last = useRef<Error>(null);
  useEffect(() => {
    if (error !== null) last.current = error;
  }, [error]);
  // Another query, which takes its place, has not failed yet.
  return error ?? (data === undefined && errorUpdateCount > 0 ? last.current : null);
}

/** After this time without an answer a page says that it still waits, in ms. */
const LONG_MS = 1_500;

/** Whether something has been going on for so long that a page says so. */
export function useIsLong(isGoingOn: boolean): boolean {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!isGoingOn) return undefined;
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [isGoingOn]);
  return isLong;
}

/** Says that something is being read, and after a while that there is no answer yet. */
export function Loading() {
  const isLong = useIsLong(true);
  return (
    <p className="note loading" aria-busy="true">
      Loading…{isLong && " There is no answer yet; this page keeps trying."}
    </p>
  );
}

function Outdated({ error, readAt }: { readonly error: ApiError; readonly readAt: number }) {
  return (
    <Notice>
      This is from <Time iso={new Date(readAt).toISOString()} /> and can't be updated now.{" "}
      <UnknownText text={describeRefusal(error).message} />
    </Notice>
  );
}

/** Says why there is nothing to see: as a page of its own, or as part of a surrounding page. */
export function Refusal({
  error,
  trail = [],
  children,
}: {
  readonly error: unknown;
  readonly trail?: readonly TrailEntry[];
  readonly children?: ReactNode;
}) {
  const { title, message } = describeRefusal(error);
  if (useContext(InPage))
    return (
      <Notice kind="bad">
        <UnknownText text={message} />
      </Notice>
    );
  return (
    <Page title={title} trail={trail}>
      <h1>{title}</h1>
      <p className="lead">
        <UnknownText text={message} />
      </p>
      {children}
    </Page>
  );
}

/** The page for an unknown path; `children` say what is missing. Default: that there is no page. */
export function NotFound({
  children = "There is no page at this address.",
}: {
  readonly children?: ReactNode;
}) {
  return (
    <Page title="Not found">
      <h1>Not found</h1>
      <p className="lead">{children}</p>
      <p>
        Go to the <Link href="/">home page</Link>, or search the <Link href="/explorer">explorer</Link>.
      </p>
    </Page>
  );
}

/** Returns the heading and reason of a refusal. */
export function describeRefusal(error: unknown): {
  readonly title: string;
  readonly message: string;
  /** Whether the thing doesn't exist, rather than something being wrong. */
  readonly isMissing: boolean;
} {
  if (!(error instanceof ApiError))
    return {
      title: "The service can't be reached",
      message: "Retrying every few seconds.",
      isMissing: false,
    };
  const title = TITLES[error.code] ?? "Something failed";
  return { title, message: sentence(error.message), isMissing: error.code === "not_found" };
}

const TITLES: Readonly<Record<string, string>> = {
  not_found: "Not found",
  invalid_parameter: "Invalid input",
  rate_limited: "Too many calls",
  chain_unavailable: "The chain can't be read",
};

/** Turns a message into a sentence; messages that are meant to follow something start in lower case. */
export function sentence(message: string): string {
  const text = capitalize(message);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
