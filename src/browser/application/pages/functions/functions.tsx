import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { Loaded, Page } from "../../page.tsx";
import { findChosenNetwork } from "../../parts/chosenNetwork.ts";
import { useNetworks, useOperator } from "../../services.tsx";
import type { Draft } from "./draft.ts";
import { findKeptDraft, type OpenedDraft } from "./keptDraft.ts";
import type { Model } from "./model.ts";
import { Playground } from "./playground.tsx";
import "./playground.css";
import { decodeFragment, isDraftFragment } from "./share.ts";

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
              No dapp has permission to use functions: <Link href="/">create one that does</Link>.
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
  const networks = useNetworks();
  const { isRead, isBroken, opened, count } = useOpened();
  return (
    <Loaded query={networks}>
      {(list) =>
        isRead && (
          <>
            {isBroken && (
              <p className="notice bad" role="alert">
                The source in this link can't be read: the link is damaged or incomplete.
              </p>
            )}
            <Playground
              key={count}
              model={{ dapps, networks: list }}
              opened={opened && { ...opened, draft: onKnownNetwork(opened.draft, list) }}
            />
          </>
        )
      }
    </Loaded>
  );
}

interface Opened {
  readonly isRead: boolean;
  /** Whether the address contains a draft that can't be unpacked. */
  readonly isBroken: boolean;
  readonly opened?: OpenedDraft | undefined;
  /** Number of drafts that addresses have brought; a new one resets the playground. */
  readonly count: number;
}

/**
 * Returns the draft in the address, which takes a moment to unpack, or the version of it that was edited in this window; without one,
 * whatever was edited last. Opening another link in this window changes only the fragment.
 */
function useOpened(): Opened {
  const [opened, setOpened] = useState<Opened>({ isRead: false, isBroken: false, count: 0 });
  useEffect(() => {
    let current: string | undefined;
    const read = async (): Promise<void> => {
      const fragment = (current = location.hash);
      const draft = await decodeFragment(fragment);
      if (fragment !== current) return;
      const isBroken = draft === undefined && isDraftFragment(fragment);
      setOpened((before) => {
        // A fragment that is not a draft is an anchor on the page.
        if (before.isRead && draft === undefined) return { ...before, isBroken };
        const kept = before.isRead ? undefined : findKeptDraft(draft === undefined ? "" : fragment);
        const brought = draft && { draft, isShared: true, fragment };
        return { isRead: true, isBroken, opened: kept ?? brought, count: before.count + 1 };
      });
    };
    const onChange = (): void => void read();
    onChange();
    addEventListener("hashchange", onChange);
    return () => {
      current = undefined;
      removeEventListener("hashchange", onChange);
    };
  }, []);
  return opened;
}

/** A link may come from a service with other networks. */
function onKnownNetwork(draft: Draft, networks: Model["networks"]): Draft {
  if (networks.some(({ name }) => name === draft.network)) return draft;
  return { ...draft, network: findChosenNetwork(networks) };
}
