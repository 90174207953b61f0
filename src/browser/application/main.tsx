/** Starts the application in its page. */
import { createRoot } from "react-dom/client";
import { ConnectionError } from "../../client/index.ts";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Layout } from "./layout.tsx";
import { isRefused } from "./refetch.ts";
import { Routes } from "./routes.tsx";
import { ServicesProvider } from "./services.tsx";
import { noteExchange } from "./connection.ts";
import { openSession } from "./session.ts";

const RETRY_MS = 2_000;

/** Interval at which a failed query is retried. */
const LOST_MS = 2_000;

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noteExchange, onSuccess: () => noteExchange() }),
  defaultOptions: {
    // The API client already retries whatever may be retried.
    queries: {
      retry: false,
      // A page's frame, which waits for its dapp, may render what a query says only after the query has failed.
      notifyOnChangeProps: "all",
      // A service on this machine is reachable without any network.
      networkMode: "always",
      staleTime: 500,
      gcTime: 60_000,
      // A page recovers by itself after the service was briefly away or its chain was starting.
      refetchInterval: ({ state: { error } }) => (error === null || isRefused(error) ? false : LOST_MS),
    },
  },
});

const host = document.querySelector("#application");
if (host !== null) createRoot(host).render(<Application />);
void keepTrying();

/** No page can be shown until the service has said who we are. */
async function keepTrying(): Promise<void> {
  try {
    await openSession();
    noteExchange();
  } catch {
    noteExchange(new ConnectionError("the service can't be reached"));
    setTimeout(() => void keepTrying(), RETRY_MS);
  }
}

/** The whole application. */
function Application() {
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
