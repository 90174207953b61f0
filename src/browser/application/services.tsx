import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, type ReactNode } from "react";
import {
  createExplorer,
  createOperator,
  type ExplorerNetwork,
  type Me,
  type PresetValue,
  type PresetView,
  type TycheClient,
  type TycheExplorer,
  type TycheOperator,
} from "../../client/index.ts";
import { OPERATIONS, roleAllows, type MemberOperation } from "../../domain/operations.ts";
import { loseSession, useSession } from "./session.ts";

interface Services {
  readonly explorer: TycheExplorer;
  /** Absent for visitors who are not signed in. */
  readonly operator: TycheOperator | undefined;
}

const Context = createContext<Services | undefined>(undefined);

/** A page should report a failure sooner than a program gives up. */
const RETRIES = 2;
/** How often the status of networks is read while one isn't serving. */
const CHANGING_MS = 5_000;

/** Provides the pages with the API clients. */
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
  const queries = useQueryClient();
  // Who signs in next may not see what this one saw.
  useEffect(() => () => queries.removeQueries({ type: "inactive" }), [queries, token]);
  return <Context value={services}>{children}</Context>;
}

/** The session may end while a page is open: the page's next request notices it, whether it submits a form or reads a list. */
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

/** Returns the client for the public chain data. */
export function useExplorer(): TycheExplorer {
  return useServices().explorer;
}

/** Returns the client for the operator's part of the API; only for pages behind sign-in. */
export function useOperator(): TycheOperator {
  const { operator } = useServices();
  if (operator === undefined) throw new Error("this page requires an operator session");
  return operator;
}

/** Reads who is signed in; only for pages behind sign-in. */
export function useMeQuery(): UseQueryResult<Me> {
  const operator = useOperator();
  return useQuery({ queryKey: ["me"], queryFn: () => operator.me(), staleTime: 10_000 });
}

/** Returns who is signed in, once it is known; only for pages behind sign-in. */
export function useMe(): Me | undefined {
  return useMeQuery().data;
}

/** Returns whether who is signed in may do an operation to a dapp; `undefined` until that is known. */
export function useMay(dappId: string): (operation: MemberOperation) => boolean | undefined {
  const me = useMe();
  return (operation) => me && isAllowed(me, { dappId, operation });
}

/** Whether somebody may do an operation to a dapp. */
export function isAllowed(
  me: Me,
  { dappId, operation }: { readonly dappId: string; readonly operation: MemberOperation },
): boolean {
  if (me.isOperator) return true;
  const role = me.memberships.find((one) => one.dappId === dappId)?.role;
  return role !== undefined && roleAllows(role, OPERATIONS[operation].least);
}

/** Parameters of whatever presets are installed. */
export type AnyPresets = Readonly<
  Record<string, { readonly params: Readonly<Record<string, unknown>>; readonly value: PresetValue }>
>;

/** Returns the client that acts for a dapp. */
export function useClient(dappId: string): TycheClient<AnyPresets> {
  const operator = useOperator();
  return useMemo(() => operator.as<AnyPresets>(dappId), [operator, dappId]);
}

/** Returns the presets as everyone may see them. */
export function usePresets(): UseQueryResult<readonly PresetView[]> {
  const explorer = useExplorer();
  return useQuery({ queryKey: ["public presets"], queryFn: () => explorer.presets(), staleTime: 10_000 });
}

/** Returns the networks as everyone may see them. */
export function useNetworks({
  freshMs = 10_000,
  refreshMs = (networks) => (networks.some(({ status }) => status !== "serving") ? CHANGING_MS : false),
}: {
  /** What was read so recently isn't read again at first. Default: 10 000. */
  readonly freshMs?: number;
  /** Returns the time until the next reading, in ms; `false`: there is none. Default: they are read again while one isn't served. */
  readonly refreshMs?: (networks: readonly ExplorerNetwork[]) => number | false;
} = {}): UseQueryResult<readonly ExplorerNetwork[]> {
  const explorer = useExplorer();
  return useQuery({
    queryKey: ["networks"],
    queryFn: () => explorer.networks(),
    staleTime: freshMs,
    refetchInterval: ({ state: { data } }) => refreshMs(data ?? []),
  });
}

/** Returns a function that gives networks' display names. */
export function useTitleOf(): (network: string) => string {
  const { data } = useNetworks();
  return (network) => data?.find(({ name }) => name === network)?.title ?? network;
}

/** Returns a function that gives networks' display names in lists, without that they are local chains. */
export function useShortTitleOf(): (network: string) => string {
  const titleOf = useTitleOf();
  return (network) => titleOf(network).replace(" (local chain)", "");
}
