import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { ApiError } from "../../client/index.ts";
import { noteExchange } from "./connection.ts";
import { Layout } from "./layout.tsx";
import { isRefused } from "./refetch.ts";
import { Routes } from "./routes.tsx";
import { ServicesProvider } from "./services.tsx";
import { loseSession } from "./session.ts";

/** A session may end, and the service may go, while a page is open. */
function noticeFailure(error: Error): void {
  noteExchange(error);
  if (error instanceof ApiError && error.code === "unauthenticated") loseSession();
}

/** How often is asked again what could not be had. */
const LOST_MS = 2_000;

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noticeFailure, onSuccess: () => noteExchange() }),
  defaultOptions: {
    // The client of the API tries again by itself what may be tried again.
    queries: {
      retry: false,
      // A service on this machine is there without any network.
      networkMode: "always",
      staleTime: 500,
      gcTime: 60_000,
      // A page whose service was away for a moment, or whose chain was starting, comes back by itself.
      refetchInterval: ({ state: { error } }) => (error === null || isRefused(error) ? false : LOST_MS),
    },
  },
});

/** The whole application. */
export function Application() {
  return (
    <QueryClientProvider client={queries}>
      <ServicesProvider>
        <Layout>
          <Routes />
        </Layout>
      </ServicesProvider>
    </QueryClientProvider>
  );
}
