import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { ApiError } from "../../client/index.ts";
import { Layout } from "./layout.tsx";
import { Routes } from "./routes.tsx";
import { ServicesProvider } from "./services.tsx";
import { loseSession } from "./session.ts";

/** A session may end while a page is open. */
function noticeEnd(error: Error): void {
  if (error instanceof ApiError && error.code === "unauthenticated") loseSession();
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({ onError: noticeEnd }),
  defaultOptions: {
    // The client of the API tries again by itself what may be tried again.
    queries: { retry: false, staleTime: 500, gcTime: 60_000 },
    mutations: { retry: false },
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
