import { Component, type ReactNode } from "react";

interface Props {
  /** The page shown; navigating to another one clears the failure. */
  readonly page: string;
  readonly children: ReactNode;
}

/**
 * Replaces a page that can't be rendered, because a part of it failed to load, as after an upgrade of the service, or because of a bug of
 * ours.
 */
export class ErrorBoundary extends Component<Props, { readonly failed: string | undefined }> {
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
