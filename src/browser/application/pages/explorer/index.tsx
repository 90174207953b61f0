import { Link } from "wouter";
import { Loaded, Page } from "../../page.tsx";
import { useNetworks } from "../../services.tsx";
import { SearchForm } from "./explorerFrame.tsx";

/** `/explorer`: the networks. */
export function ExplorerIndex() {
  const networks = useNetworks();
  return (
    <Page title="Explorer">
      <h1>Explorer</h1>
      <p className="lead">
        Activity on the chains served here: requests, proofs, results and every other transaction.
      </p>
      <SearchForm />
      <Loaded query={networks}>
        {(list) => (
          <ul className="cards">
            {list.map(({ name, title, chainId, status, statusDetail }) => (
              <li key={name} className="panel">
                <h2>
                  <Link href={`/explorer/${name}`}>{title}</Link>
                </h2>
                <p className="note">
                  Chain {chainId}
                  {status !== "serving" && `, ${statusDetail ?? status}`}
                </p>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Page>
  );
}
