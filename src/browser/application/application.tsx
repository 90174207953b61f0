import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { noteExchange } from "./connection.ts";
import { Layout } from "./layout.tsx";
import { isRefused } from "./refetch.ts";
import { Routes } from "./routes.tsx";
import { ServicesProvider } from "./services.tsx";

/** How often is asked again what could not be had. */
const LOST_MS = 2_000;

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noteExchange, onSuccess: () => noteExchange() }),
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
