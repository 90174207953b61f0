import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { Loaded, Page } from "../../page.tsx";
import { useOperator } from "../../services.tsx";
import type { Draft } from "./draft.ts";
import type { Model } from "./model.ts";
import { Playground } from "./playground.tsx";
import "./playground.css";
import { decodeFragment } from "./share.ts";

/** `/functions`, the playground: an editor that dry-runs a source and runs it on a network. */
export function Functions() {
  const operator = useOperator();
  const dapps = useQuery({ queryKey: ["dapps"], queryFn: () => operator.dapps(), staleTime: Infinity });
  return (
    <Page title="Functions">
      <h1>Functions</h1>
      <p className="lead">
        Write a source, dry-run it in the sandbox of the oracle's nodes, then run it on a network.
      </p>
      <Loaded query={dapps}>
        {(list) => {
          const users = list.filter(({ facilities }) => facilities.includes("functions"));
          return users.length === 0 ? (
            <p className="panel">
              No dapp is permitted to use functions: <Link href="/">create one that is</Link>.
            </p>
          ) : (
            <WithNetworks dapps={users} />
          );
        }}
      </Loaded>
    </Page>
  );
}

function WithNetworks({ dapps }: Pick<Model, "dapps">) {
  const operator = useOperator();
  const networks = useQuery({
    queryKey: ["networks", "with limits"],
    queryFn: () => operator.networks(),
    staleTime: Infinity,
  });
  const shared = useShared();
  return (
    <Loaded query={networks}>
      {(list) =>
        shared.isRead && (
          <Playground
            key={shared.count}
            model={{ dapps, networks: list }}
            shared={onKnownNetwork(shared.draft, list)}
          />
        )
      }
    </Loaded>
  );
}

interface Shared {
  readonly isRead: boolean;
  readonly draft?: Draft | undefined;
  /** Of drafts that addresses have brought: another one starts anew. */
  readonly count: number;
}

/** The draft that the address brings, which takes a moment to unpack. Another link that is opened in this window changes the fragment alone. */
function useShared(): Shared {
  const [shared, setShared] = useState<Shared>({ isRead: false, count: 0 });
  useEffect(() => {
    let fragment: string | undefined;
    const read = async (): Promise<void> => {
      const mine = (fragment = location.hash);
      const draft = await decodeFragment(mine);
      if (mine !== fragment) return;
      // A fragment that is no draft is a place on the page.
      setShared((before) =>
        before.isRead && draft === undefined ? before : { isRead: true, draft, count: before.count + 1 },
      );
    };
    const onChange = (): void => void read();
    onChange();
    addEventListener("hashchange", onChange);
    return () => {
      fragment = undefined;
      removeEventListener("hashchange", onChange);
    };
  }, []);
  return shared;
}

/** A link may come from a service with other networks. */
function onKnownNetwork(draft: Draft | undefined, networks: Model["networks"]): Draft | undefined {
  if (draft === undefined || networks.some(({ name }) => name === draft.network)) return draft;
  return { ...draft, network: networks[0]?.name ?? "" };
}
