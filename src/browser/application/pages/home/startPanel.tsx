import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { DappView } from "../../../../client/index.ts";
import { Copyable, CopyButton } from "../../parts/format.tsx";
import { describeError } from "../../parts/forms.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { Folded, Listing, Notice, UnknownText } from "../../parts/parts.tsx";
import { RevealedKey } from "../../parts/revealedKey.tsx";
import { useNetworks, useOperator } from "../../services.tsx";

/** Everything for a first call: a button that makes it, and key and command for a terminal. */
export function StartPanel({
  dapps,
  isFirstVisit,
}: {
  readonly dapps: readonly DappView[];
  readonly isFirstVisit: boolean;
}) {
  const dapp = dapps.find(({ facilities }) => facilities.includes("presets"));
  return dapp === undefined ? null : <Flip dapp={dapp} isFirstVisit={isFirstVisit} />;
}

function Flip({ dapp, isFirstVisit }: { readonly dapp: DappView; readonly isFirstVisit: boolean }) {
  const operator = useOperator();
  const client = operator.as(dapp.id);
  const [, navigate] = useLocation();
  const networks = useNetworks().data ?? [];
  const presets = useQuery({ queryKey: ["presets"], queryFn: () => operator.presets() });
  const keys = useQuery({ queryKey: ["keys", dapp.id], queryFn: () => operator.keys(dapp.id) });
  const [network, choose] = useChosenNetwork(networks);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  if (presets.data?.some(({ name }) => name === "coinflip") === false) return null;

  const key = keys.data?.find(({ revokedAt }) => revokedAt === null);
  const command = `curl -sS -X POST "$TYCHE_URL/api/vrfv2/presets?preset=coinflip&network=${network}" \\
  -H "Authorization: $TYCHE_API_KEY" -H 'Content-Type: application/json' -d '{}'`;
  const flip = async (): Promise<void> => {
    setBusy(true);
    try {
      const { id } = await client.submit.preset("coinflip", {}, { network });
      navigate(`/dapps/${dapp.id}/requests/${id}`);
    } catch (error) {
      setProblem(describeError(error));
      setBusy(false);
    }
  };
  return (
    <section className="panel" id="start">
      <h2>Flip a coin now</h2>
      {isFirstVisit && (
        <ol className="note">
          <li>
            A coin flip asks for a random word on chain; the oracle answers with a proof that the coordinator
            contract checks.
          </li>
          <li>
            A function turns the word into a result, which is also put on chain. The next page links to both
            transactions and verifies them.
          </li>
          <li>
            Your programs can do the same with one HTTP call, without gas, tokens or subscriptions of their
            own.
          </li>
        </ol>
      )}
      {problem !== undefined && (
        <Notice kind="bad">
          <UnknownText text={problem} />
        </Notice>
      )}
      <form
        className="flip"
        onSubmit={(event) => {
          event.preventDefault();
          void flip();
        }}
      >
        <NetworkSelect networks={networks} value={network} onChange={choose} />
        <div>
          <button className="action" disabled={isBusy}>
            Flip a coin
          </button>
        </div>
      </form>
      {key !== undefined && (
        <>
          <h3>
            API key of <UnknownText text={dapp.name} />
          </h3>
          <div className="key-row">
            <RevealedKey key={key.id} dappId={dapp.id} apiKey={key} />
          </div>
        </>
      )}
      <Folded summary="As curl">
        <p className="note">
          In a terminal with <code>TYCHE_URL</code> and <code>TYCHE_API_KEY</code> set:{" "}
          <Copyable text={`export TYCHE_URL=${location.origin}`} what="address" />
        </p>
        <Listing text={command} label="curl" />
        <CopyButton text={command} what="curl" />
      </Folded>
    </section>
  );
}
