import { useEffect, useRef, useState, type ReactNode, Component } from "react";
import { Link, useLocation } from "wouter";
import { plainText } from "../../lib/hiddenCharacters.ts";
import { SECTIONS } from "../../domain/sections.ts";
import { useIsLost } from "./connection.ts";
import { UnknownText } from "./parts/parts.tsx";
import { useMe } from "./services.tsx";
import { signOut, useSession } from "./session.ts";

/** The frame around every page. */
export function Layout({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const isAdmitted = session.kind === "operator";
  const [location] = useLocation();
  const isLost = useIsLost();
  const main = useFocusOnNavigation(location);
  const [isStuck, setStuck] = useState(false);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <div className="bar">
          <Link className="brand" href={isAdmitted ? "/" : "/explorer"}>
            Tyche
          </Link>
          <nav aria-label="Main">
            {SECTIONS.filter(({ isPublic }) => isPublic || isAdmitted).map(({ href, text, covers }) => (
              <Link key={href} href={href} aria-current={covers.test(location) ? "page" : undefined}>
                {text}
              </Link>
            ))}
            <a href="/docs">API</a>
          </nav>
          {session.kind === "stranger" && (
            <Link className="side" href="/sign-in">
              Sign in
            </Link>
          )}
          {isAdmitted && (
            <span className="side account">
              <Who />
              <Link href="/sessions">Sessions</Link>
              <button type="button" className="plain" onClick={() => void leave()}>
                Sign out
              </button>
            </span>
          )}
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {isLost && (
          <div className="notice bad" role="alert">
            The service can't be reached. Retrying every few seconds.
          </div>
        )}
        {isStuck && isAdmitted && (
          <div className="notice bad" role="alert">
            You are still signed in: the service could not end the session. Try again.
          </div>
        )}
        <ErrorBoundary page={location}>{children}</ErrorBoundary>
      </main>
      <div id="announcer" className="visually-hidden" role="status" aria-live="polite" />
    </>
  );

  async function leave(): Promise<void> {
    setStuck(false);
    try {
      await signOut();
      history.pushState(null, "", "/explorer");
    } catch {
      setStuck(true);
    }
  }
}

/** The name of who is signed in. */
function Who() {
  const name = useMe()?.name ?? "";
  return (
    <span className="who" title={plainText(name)}>
      <span className="visually-hidden">Signed in as </span>
      <UnknownText text={name} />
    </span>
  );
}

/** Moves the focus to the page that was navigated to, as a browser does when it loads a page. */
function useFocusOnNavigation(location: string) {
  const main = useRef<HTMLElement>(null);
  const shown = useRef(location);
  useEffect(() => {
    if (shown.current === location) return;
    shown.current = location;
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [location]);
  return main;
}

interface Props {
  /** The page shown; navigating to another one clears the failure. */
  readonly page: string;
  readonly children: ReactNode;
}

/**
 * Replaces a page that can't be rendered, because a part of it failed to load, as after an upgrade of the service, or because of a bug of
 * ours.
 */
class ErrorBoundary extends Component<Props, { readonly failed: string | undefined }> {
  override state = { failed: undefined as string | undefined };

  static getDerivedStateFromError(): { readonly failed: string } {
    return { failed: location.pathname };
  }

  override componentDidUpdate({ page }: Props): void {
    if (page !== this.props.page && this.state.failed !== undefined) this.setState({ failed: undefined });
  }

  override render(): ReactNode {
    if (this.state.failed === undefined) return this.props.children;
    return (
      <>
        <h1>This page can't be shown</h1>
        <p className="lead">Part of it is missing; the service may have been upgraded in the meantime.</p>
        <button type="button" className="action" onClick={() => location.reload()}>
          Reload
        </button>
      </>
    );
  }
}
