import { lazy, Suspense, useState, type ComponentType } from "react";
import { Redirect, Route, Switch, useLocation, useSearch } from "wouter";
import { NotFound } from "./page.tsx";
import { Usage } from "./pages/dapps/usage.tsx";
import { Settings } from "./pages/dapps/settings.tsx";
import { Secrets } from "./pages/dapps/secrets.tsx";
import { Webhook, Webhooks } from "./pages/dapps/webhooks.tsx";
import { Dapp } from "./pages/dapps/overview.tsx";
import { DryRuns } from "./pages/dapps/dryRuns.tsx";
import { Consumers } from "./pages/dapps/consumers.tsx";
import { Keys } from "./pages/dapps/keys.tsx";
import { ConfigVars } from "./pages/dapps/configVars.tsx";
import { Address, Contract } from "./pages/explorer/address.tsx";
import { Block, Blocks, Chain, Transactions } from "./pages/explorer/chain.tsx";
import { NoExplorerPage } from "./pages/explorer/explorerFrame.tsx";
import { ExplorerIndex, Search } from "./pages/explorer/index.tsx";
import { ExplorerRequests, RequestsOfNetwork } from "./pages/explorer/requests.tsx";
import { Transaction } from "./pages/explorer/transaction.tsx";
import { People } from "./pages/dapps/people.tsx";
import { Audit } from "./pages/audit.tsx";
import { AllPeople, Sessions } from "./pages/people.tsx";
import { Invitation } from "./pages/invitation.tsx";
import { Networks } from "./pages/networks/networks.tsx";
import { Home } from "./pages/home/home.tsx";
import { Preset } from "./pages/presets/preset.tsx";
import { PresetList } from "./pages/presets/presetList.tsx";
import { Random } from "./pages/presets/random.tsx";
import { DryRun } from "./pages/requests/dryRun.tsx";
import { Request } from "./pages/requests/request.tsx";
import { Requests } from "./pages/requests/requests.tsx";
import { Shared } from "./pages/requests/shared.tsx";
import { ProviderReturn, SignIn } from "./pages/signIn.tsx";
import { OWN_PATHS, PUBLIC_PATHS } from "../../domain/pagePaths.ts";
import { useSession } from "./session.ts";

const FunctionsPage = lazy(async () => ({
  default: (await import("./pages/functions/functions.tsx")).Functions,
}));

const TriggerPage = lazy(async () => ({
  default: (await import("./pages/dapps/triggers.tsx")).Trigger,
}));

const TriggersPage = lazy(async () => ({
  default: (await import("./pages/dapps/triggers.tsx")).Triggers,
}));

/** Pages for signed-in users. */
const OWN: Readonly<Record<(typeof OWN_PATHS)[number], ComponentType>> = {
  "/": Home,
  "/functions": FunctionsPage,
  "/networks": Networks,
  "/sessions": Sessions,
  "/audit": Audit,
  "/people": AllPeople,
  "/presets": PresetList,
  "/random": Random,
  "/dapps/:dappId": Dapp,
  "/dapps/:dappId/keys": Keys,
  "/dapps/:dappId/config-vars": ConfigVars,
  "/dapps/:dappId/consumers": Consumers,
  "/dapps/:dappId/dry-runs": DryRuns,
  "/dapps/:dappId/dry-runs/:id": DryRun,
  "/dapps/:dappId/triggers": TriggersPage,
  "/dapps/:dappId/triggers/:id": TriggerPage,
  "/dapps/:dappId/secrets": Secrets,
  "/dapps/:dappId/webhooks": Webhooks,
  "/dapps/:dappId/webhooks/:id": Webhook,
  "/dapps/:dappId/usage": Usage,
  "/dapps/:dappId/people": People,
  "/dapps/:dappId/settings": Settings,
  "/dapps/:dappId/requests": Requests,
  "/dapps/:dappId/requests/:id": Request,
};

/** Pages for everyone. */
const PUBLIC: Readonly<Record<(typeof PUBLIC_PATHS)[number], ComponentType>> = {
  "/sign-in": SignIn,
  "/sign-in/provider": ProviderReturn,
  "/invitation": Invitation,
  "/r/:id": Shared,
  "/presets/:name": PresetPage,
  "/explorer": ExplorerIndex,
  "/explorer/search": Search,
  "/explorer/requests": ExplorerRequests,
  "/explorer/:network": Chain,
  "/explorer/:network/blocks": Blocks,
  "/explorer/:network/transactions": Transactions,
  "/explorer/:network/requests": RequestsOfNetwork,
  "/explorer/:network/block/:number": Block,
  "/explorer/:network/tx/:hash": Transaction,
  "/explorer/:network/address/:address": Address,
  "/explorer/:network/address/:address/contract": Contract,
};

/** Renders the page for the current address. */
export function Routes() {
  const session = useSession();
  return (
    <Suspense fallback={<p className="note loading">Loading…</p>}>
      <Switch>
        {PUBLIC_PATHS.map((path) => (
          <Route key={path} path={path} component={PUBLIC[path]} />
        ))}
        <Route path="/explorer/:network/*" component={NoExplorerPage} />
        {OWN_PATHS.map((path) => (
          <Route key={path} path={path}>
            {session.kind === "operator" ? (
              createPage(OWN[path])
            ) : session.kind === "stranger" ? (
              <ToSignIn />
            ) : null}
          </Route>
        ))}
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </Suspense>
  );
}

function createPage(Page: ComponentType) {
  return <Page />;
}

/** A preset, once it is known who looks at it. */
function PresetPage() {
  const { kind } = useSession();
  return kind === "operator" || kind === "stranger" ? <PresetOrSignIn /> : null;
}

/** A preset, for everyone; whose session ends meanwhile goes on there once they are signed in again. */
function PresetOrSignIn() {
  const { kind } = useSession();
  const [first] = useState(kind);
  return kind === "stranger" && first === "operator" ? <ToSignIn /> : <Preset />;
}

/**
 * Redirects to the sign-in page, which leads back to the complete address. The fragment remains a fragment: a reload must not send a shared
 * source to the service.
 */
function ToSignIn() {
  const [location] = useLocation();
  const search = useSearch();
  const { hash } = globalThis.location;
  const next = `${location}${search === "" ? "" : `?${search}`}`;
  const query = next === "/" ? "" : `?next=${encodeURIComponent(next)}`;
  return <Redirect to={`/sign-in${query}${hash}`} replace />;
}
