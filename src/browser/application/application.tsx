import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { noteExchange } from "./connection.ts";
import { Layout } from "./layout.tsx";
import { isRefused } from "./refetch.ts";
import { Routes } from "./routes.tsx";
import { ServicesProvider } from "./services.tsx";

/** Interval at which a failed query is retried. */
const LOST_MS = 2_000;

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noteExchange, onSuccess: () => noteExchange() }),
  defaultOptions: {
    // The API client already retries whatever may be retried.
    queries: {
      retry: false,
      // A service on this machine is reachable without any network.
      networkMode: "always",
      staleTime: 500,
      gcTime: 60_000,
      // A page recovers by itself after the service was briefly away or its chain was starting.
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
