import { useEffect, useState } from "react";
import type { TycheClient, TycheOperator } from "../../../../client/index.ts";
import { describeRefusal, Loaded, Page } from "../../page.tsx";
import { findChosenNetwork } from "../../parts/chosenNetwork.ts";
import { WithDapps } from "../../parts/dappSelect.tsx";
import { nameRoles } from "../../parts/forRole.tsx";
import { Notice, UnknownText } from "../../parts/parts.tsx";
import { isAllowed, useNetworks, useOperator } from "../../services.tsx";
import { findDraft, findDraftOf, type Draft } from "./draft.ts";
import { findKeptDraft, type OpenedDraft } from "./keptDraft.ts";
import type { Model } from "./model.ts";
import { Playground } from "./playground.tsx";
import "./playground.css";
import { runOf, runOfRefused, type Run } from "./run.ts";
import { decodeFragment, isDraftFragment } from "./share.ts";

/** `/functions`, the playground: an editor that dry-runs a source and runs it on a network. */
export function Functions() {
  return (
    <Page title="Functions" chains="all">
      <h1>Functions</h1>
      <WithDapps
        facility="functions"
        operation="runFunction"
        otherwise={(having) => (
          <>
            <p className="lead">
              You are a viewer of <UnknownText text={having.map(({ name }) => name).join(", ")} />: you can
              read sources. Only {nameRoles("runFunction")} can run them.
            </p>
            <WithNetworks dapps={[]} />
          </>
        )}
      >
        {(dapps) => (
          <>
            <p className="lead">
              Write a source, dry-run it in the sandbox of the oracle's nodes, then run it on a network.
            </p>
            <WithNetworks dapps={dapps} />
          </>
        )}
      </WithDapps>
    </Page>
  );
}

function WithNetworks({ dapps }: Pick<Model, "dapps">) {
  const networks = useNetworks();
  const { isRead, problem, opened, ran, count } = useOpened();
  return (
    <Loaded query={networks}>
      {(list) =>
        isRead && (
          <>
            {problem !== undefined && (
              <Notice kind="bad">
                <UnknownText text={problem} />
              </Notice>
            )}
            <Playground
              key={count}
              model={{ dapps, networks: list }}
              opened={opened && { ...opened, draft: onKnownNetwork(opened.draft, list) }}
              isNamed={problem === undefined}
              ran={ran}
            />
          </>
        )
      }
    </Loaded>
  );
}

/** What an address brings; nothing if it names no draft. */
interface Brought {
  /** Why it brings no draft, although it names one. */
  readonly problem?: string;
  readonly opened?: OpenedDraft | undefined;
  /** What came of the draft before. */
  readonly ran?: Run | undefined;
}

interface Opened extends Brought {
  readonly isRead: boolean;
  /** Number of drafts that addresses have brought; a new one resets the playground. */
  readonly count: number;
}

/**
 * Returns the draft that the address names, or the version of it that was edited in this window; if it names none, whatever was edited
 * last. Opening another link in this window changes only the fragment.
 */
function useOpened(): Opened {
  const operator = useOperator();
  const [opened, setOpened] = useState<Opened>({ isRead: false, count: 0 });
  useEffect(() => {
    let current: string | undefined;
    const read = async (): Promise<void> => {
      const { hash, search } = location;
      current = hash;
      const brought = isDraftFragment(hash) ? await openShared(hash) : await openRun(operator, search);
      if (hash !== current) return;
      setOpened((before) => {
        // A fragment that is not a draft is an anchor on the page.
        if (before.isRead && !isDraftFragment(hash)) return before;
        if (before.isRead && brought.opened === undefined) return { ...before, ...brought };
        const kept = before.isRead ? undefined : findKeptDraft(brought.opened?.link ?? "");
        const isEdited =
          kept !== undefined && JSON.stringify(kept.draft) !== JSON.stringify(brought.opened?.draft);
        return {
          ...brought,
          isRead: true,
          opened: kept ?? brought.opened,
          ran: isEdited ? undefined : brought.ran,
          count: before.count + 1,
        };
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

async function openShared(link: string): Promise<Brought> {
  const draft = await decodeFragment(link);
  if (draft !== undefined) return { opened: { draft, isShared: true, link } };
  return { problem: "The source in this link can't be read: the link is damaged or incomplete." };
}

/** Opens the request, or the refused call, that `?dapp=&request=` or `&dryRun=` names: as one's own if one may run functions of its dapp. */
async function openRun(operator: TycheOperator, search: string): Promise<Brought> {
  const query = new URLSearchParams(search);
  const [dappId, requestId, dryRunId] = ["dapp", "request", "dryRun"].map((name) => query.get(name));
  const id = requestId ?? dryRunId;
  if (!dappId || !id) return {};
  const what = `${requestId ? "Request" : "Dry run"} ${id}`;
  try {
    const { draft, ran } = await readRun(operator.as(dappId), id);
    if (draft === undefined)
      return { problem: `${what} is not of a function, or its source was deleted: there is none to open.` };
    const isShared = !isAllowed(await operator.me(), { dappId, operation: "runFunction" });
    // As of a shared link, whoever opens it decides which of their secrets it may read.
    const opened = isShared ? { ...draft, secrets: undefined } : draft;
    return { opened: { draft: opened, isShared, link: id }, ran };
  } catch (error) {
    return { problem: `${what} can't be read. ${describeRefusal(error).message}` };
  }
}

async function readRun(
  client: TycheClient,
  id: string,
): Promise<{ readonly draft: Draft | undefined; readonly ran: Run }> {
  if (id.startsWith("dry_")) {
    const run = await client.dryRun(id);
    const { kind, params, network } = run;
    return {
      draft: kind === "function" ? findDraft({ ...params, network }) : undefined,
      ran: runOfRefused(run),
    };
  }
  const request = await client.request(id);
  return { draft: findDraftOf(request), ran: runOf(request) };
}

/** A link may come from a service with other networks. */
function onKnownNetwork(draft: Draft, networks: Model["networks"]): Draft {
  if (networks.some(({ name }) => name === draft.network)) return draft;
  return { ...draft, network: findChosenNetwork(networks) };
}
