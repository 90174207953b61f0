import type { UseQueryResult } from "@tanstack/react-query";
import { createContext, useContext, useEffect, type ReactNode } from "react";
import { Link } from "wouter";
import { ApiError } from "../../client/index.ts";
import { Notice, UnknownText } from "./parts/parts.tsx";

/** A page above the one that is shown. */
export interface TrailEntry {
  readonly href: string;
  readonly text: string;
}

/** Whether a page is around: what can't be had is then a part of it. */
const InPage = createContext(false);

/** One page: names the tab, and says where in the application it is. */
export function Page({
  title,
  trail = [],
  children,
}: {
  readonly title: string;
  readonly trail?: readonly TrailEntry[];
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
      <InPage value>{children}</InPage>
    </>
  );
}

/** Draws what was asked for once it is there, and says so where it can't be had. */
export function Loaded<Data>({
  query,
  children,
}: {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}) {
  const { data, error } = query;
  if (data !== undefined) return <>{children(data)}</>;
  if (error !== null) return <Refusal error={error} />;
  return (
    <p className="note loading" aria-busy="true">
      Loading…
    </p>
  );
}

/** Why there is nothing to see: as a page, or within one as a part of it. */
export function Refusal({ error, children }: { readonly error: unknown; readonly children?: ReactNode }) {
  const { title, message } = describeRefusal(error);
  if (useContext(InPage))
    return (
      <Notice kind="bad">
        <UnknownText text={message} />
      </Notice>
    );
  return (
    <Page title={title}>
      <h1>{title}</h1>
      <p className="lead">
        <UnknownText text={message} />
      </p>
      {children}
    </Page>
  );
}

/** A page that there isn't. */
export function NotFound() {
  return (
    <Page title="Nothing here">
      <h1>Nothing here</h1>
      <p className="lead">There is no page at this address.</p>
      <p>
        Go to the <Link href="/">home page</Link>, or search the <Link href="/explorer">explorer</Link>.
      </p>
    </Page>
  );
}

/** Heading and reason of a refusal. */
export function describeRefusal(error: unknown): {
  readonly title: string;
  readonly message: string;
  /** Whether there is no such thing, rather than something wrong. */
  readonly isMissing: boolean;
} {
  if (!(error instanceof ApiError))
    return {
      title: "The service can't be reached",
      message: "It is asked again every few seconds.",
      isMissing: false,
    };
  const title = TITLES[error.code] ?? "Something failed";
  return { title, message: sentence(error.message), isMissing: error.code === "not_found" };
}

const TITLES: Readonly<Record<string, string>> = {
  not_found: "Nothing here",
  invalid_parameter: "That can't be used",
  rate_limited: "Too many calls",
  chain_unavailable: "The chain can't be read",
};

/** Messages start in lower case where they are meant to follow something. */
export function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
