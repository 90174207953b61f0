import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as a collector gets it (opentelemetry-proto, trace.proto), with the name of the service that sent it. */
export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** Body of an OTLP/HTTP export in JSON. */
interface ExportBody {
  readonly resourceSpans: readonly {
    readonly resource: Pick<CollectedSpan, "attributes">;
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

/** Starts a trace collector that accepts OTLP over HTTP in JSON. */
export async function startTraceCollector(): Promise<{
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  close(): void;
}> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as ExportBody;
      for (const { resource, scopeSpans } of resourceSpans) {
        const named = resource.attributes.find(({ key }) => key === "service.name");
        const service = String(named?.value["stringValue"]);
        for (const span of scopeSpans.flatMap((scope) => scope.spans)) spans.push({ ...span, service });
      }
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
