import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { DappView } from "../../../client/index.ts";
import { Loaded, Page } from "../page.tsx";
import { Copyable } from "./format.tsx";
import { plainText } from "../../../lib/hiddenCharacters.ts";
import { UnknownText } from "./parts.tsx";
import { aRole } from "./roleText.ts";
import { Tabs } from "./tabs.tsx";
import { useMay, useMe, useOperator } from "../services.tsx";

const TABS = [
  { name: "overview", path: "", text: "Overview" },
  { name: "keys", path: "/keys", text: "Keys" },
  { name: "config", path: "/config-vars", text: "Fetch Config Vars" },
  { name: "secrets", path: "/secrets", text: "Secrets" },
  { name: "consumers", path: "/consumers", text: "Consumers" },
  { name: "requests", path: "/requests", text: "Requests" },
  { name: "dry-runs", path: "/dry-runs", text: "Dry runs" },
  { name: "triggers", path: "/triggers", text: "Triggers" },
  { name: "webhooks", path: "/webhooks", text: "Webhooks" },
  { name: "usage", path: "/usage", text: "Usage" },
  { name: "people", path: "/people", text: "People" },
  { name: "settings", path: "/settings", text: "Settings" },
] as const;

/** A page of a dapp: its name, its id, the role of who is signed in, its tabs. */
export function DappFrame({
  dappId,
  tab,
  title,
  network,
  children,
}: {
  readonly dappId: string;
  readonly tab: (typeof TABS)[number]["name"];
  /** Default: the tab's title. */
  readonly title?: string;
  /** What the page is about is on this network. Default: on any. */
  readonly network?: string | undefined;
  readonly children: (dapp: DappView) => ReactNode;
}) {
  const operator = useOperator();
  const dapp = useQuery({ queryKey: ["dapp", dappId], queryFn: () => operator.dapp(dappId) });
  const role = useMe()?.memberships.find((one) => one.dappId === dappId)?.role;
  const hasKeys = useMay(dappId)("listKeys") === true;
  const text = title ?? TABS.find(({ name }) => name === tab)?.text;
  return (
    <Loaded query={dapp}>
      {(data) => (
        <Page
          title={`${text} · ${plainText(data.name)}`}
          trail={[{ href: "/", text: "Home" }]}
          chains={network === undefined ? "all" : [network]}
        >
          <h1>
            <UnknownText text={data.name} />
          </h1>
          <p className="subject">
            <Copyable text={data.id} what="dapp id" />{" "}
            {role !== undefined && <span className="note">You are {aRole(role)} of this dapp.</span>}
          </p>
          {/* A role that is read later adds a tab, which moves the current one. */}
          <Tabs
            key={String(hasKeys)}
            label="Dapp"
            current={tab}
            tabs={TABS.filter(({ name }) => name !== "keys" || hasKeys).map((one) => ({
              ...one,
              href: `/dapps/${data.id}${one.path}`,
            }))}
          />
          {children(data)}
        </Page>
      )}
    </Loaded>
  );
}
