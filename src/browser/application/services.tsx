import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { createContext, useContext, useMemo, type ReactNode } from "react";
import {
  createExplorer,
  createOperator,
  type ExplorerNetwork,
  type TycheClient,
  type TycheExplorer,
  type TycheOperator,
} from "../../client/index.ts";
import { loseSession, useSession } from "./session.ts";

interface Services {
  readonly explorer: TycheExplorer;
  /** Absent for strangers. */
  readonly operator: TycheOperator | undefined;
}

const Context = createContext<Services | undefined>(undefined);

/** A page shows what went wrong sooner than a program gives up. */
const RETRIES = 2;

/** Gives the pages the clients of the API. */
export function ServicesProvider({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const token = session.kind === "operator" ? session.token : undefined;
  const services = useMemo<Services>(() => {
    const connection = { baseUrl: location.origin, retries: RETRIES };
    return {
      explorer: createExplorer(connection),
      operator:
        token === undefined
          ? undefined
          : createOperator({ ...connection, token, fetch: fetchInSession(token) }),
    };
  }, [token]);
  return <Context value={services}>{children}</Context>;
}

/** The session may end while a page is open: whatever the page asks for next says so, a form that is sent as well as a list that is read. */
function fetchInSession(token: string): typeof fetch {
  return async (...given) => {
    const answer = await fetch(...given);
    if (answer.status === 401) loseSession(token);
    return answer;
  };
}

function useServices(): Services {
  const services = useContext(Context);
  if (services === undefined) throw new Error("no services around this component");
  return services;
}

/** What is on the chains, for everybody. */
export function useExplorer(): TycheExplorer {
  return useServices().explorer;
}

/** The operator's part of the API; only on pages for whom is signed in. */
export function useOperator(): TycheOperator {
  const { operator } = useServices();
  if (operator === undefined) throw new Error("this page is for whom is signed in");
  return operator;
}

/** Whatever presets are installed. */
export type AnyPresets = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The API as a dapp calls it. */
export function useClient(dappId: string): TycheClient<AnyPresets> {
  const operator = useOperator();
  return useMemo(() => operator.as<AnyPresets>(dappId), [operator, dappId]);
}

/** The networks, as everybody may see them. */
export function useNetworks(): UseQueryResult<readonly ExplorerNetwork[]> {
  const explorer = useExplorer();
  return useQuery({ queryKey: ["networks"], queryFn: () => explorer.networks(), staleTime: 10_000 });
}

/** Names of networks for people. */
export function useTitleOf(): (network: string) => string {
  const { data } = useNetworks();
  return (network) => data?.find(({ name }) => name === network)?.title ?? network;
}
