import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Link } from "wouter";
import type { NetworkView } from "../../../../client/index.ts";
import { Code, CopyButton, TransactionLink } from "../../parts/format.tsx";
import { describeError, Field, focusFirstProblem, problemsOf, readField } from "../../parts/forms.tsx";
import { NetworkSelect, useChosenNetwork } from "../../parts/networkSelect.tsx";
import { List } from "../../parts/list.tsx";
import { Folded, Notice, UnknownText } from "../../parts/parts.tsx";
import { useOperator } from "../../services.tsx";

/** Sends coin and LINK to an address; renders nothing if no chain is embedded. */
export function Faucet({ networks }: { readonly networks: readonly NetworkView[] }) {
  const operator = useOperator();
  const accounts = useQuery({
    queryKey: ["fundedAccounts"],
    queryFn: () => operator.fundedAccounts(),
    staleTime: Infinity,
  });
  const [network, choose] = useChosenNetwork(networks);
  const [given, setGiven] = useState<{
    readonly network: string;
    readonly coin: string;
    readonly link: string;
  }>();
  const [problem, setProblem] = useState<string>();
  const [fieldProblem, setFieldProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  if (networks.length === 0) return null;
  const send = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const address = readField(new FormData(form), "address").trim();
    setBusy(true);
    setGiven(undefined);
    setProblem(undefined);
    setFieldProblem(undefined);
    try {
      const { transactionHashes } = await operator.faucet({ network, address });
      const [coin = "", link = ""] = transactionHashes;
      setGiven({ network, coin, link });
    } catch (error) {
      const found = problemsOf(error).get("address");
      setFieldProblem(found);
      setProblem(found === undefined ? describeError(error) : undefined);
      focusFirstProblem(form);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="panel" id="faucet">
      <h2>Faucet</h2>
      {given !== undefined && (
        <Notice>
          Sent 10 coins in transaction <TransactionLink network={given.network} hash={given.coin} /> and 100
          LINK in transaction <TransactionLink network={given.network} hash={given.link} />.
        </Notice>
      )}
      {problem !== undefined && (
        <Notice kind="bad">
          <UnknownText text={problem} />
        </Notice>
      )}
      <p className="note">Sends 10 coins and 100 LINK, which cost nothing on an embedded chain.</p>
      <form className="fields" onSubmit={(event) => void send(event)}>
        <Field id="address" label="Address" problem={fieldProblem} wide>
          {(control) => (
            <input
              {...control}
              name="address"
              required
              placeholder="0x…"
              autoComplete="off"
              spellCheck={false}
              className="mono"
            />
          )}
        </Field>
        <NetworkSelect networks={networks} value={network} onChange={choose} />
        <div>
          <button className="action" disabled={isBusy}>
            Send
          </button>
        </div>
      </form>
      {accounts.data !== undefined && (
        <Folded summary={`${accounts.data.length} funded accounts`}>
          <p className="note">
            Each holds 10,000 coins on every embedded network from its first block, as in Anvil and Hardhat.{" "}
            <b>Everybody knows their keys:</b> never use them where coins have value.
          </p>
          <List
            label="Funded accounts"
            items={accounts.data}
            keyOf={({ address }) => address}
            columns={[
              {
                head: "Address",
                cell: ({ address }) => (
                  <>
                    <Link href={`/explorer/search?q=${address}`}>
                      <Code text={address} />
                    </Link>{" "}
                    <CopyButton text={address} what={`address ${address}`} />
                  </>
                ),
              },
              {
                head: "Secret key",
                kind: "long",
                cell: ({ address, secretKey }) => (
                  <>
                    <Code text={secretKey} />{" "}
                    <CopyButton text={secretKey} what={`secret key of ${address}`} />
                  </>
                ),
              },
            ]}
          />
        </Folded>
      )}
    </section>
  );
}
