import { Component, type ReactNode } from "react";

interface Props {
  /** What is shown; another one is tried anew. */
  readonly page: string;
  readonly children: ReactNode;
}

/** Stands in for a page that can't be drawn: a part of it that could not be loaded, as after an upgrade of the service, or a defect of ours. */
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
        <p className="lead">A part of it is missing: the service may have been upgraded meanwhile.</p>
        <button type="button" className="action" onClick={() => location.reload()}>
          Load it again
        </button>
      </>
    );
  }
}
