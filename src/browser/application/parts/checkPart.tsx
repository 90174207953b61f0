import type { ExplorerNetwork } from "../../../client/index.ts";
import { quoteForShell } from "../../../lib/quoteForShell.ts";
import { QUICKNET_HASH } from "../../../domain/vocabulary.ts";
import { useNetworks } from "../services.tsx";
import { CopyButton } from "./format.tsx";
import { Folded } from "./parts.tsx";

/** Shows how anyone can check a result without this service. */
export function CheckPart({
  network,
  hash,
  requestId,
  label,
  dappId,
  isFunction,
}: {
  readonly network: string;
  /** Hash of the transaction that delivered the result. */
  readonly hash: string;
  /** Which of its requests the verifier checks. Default: all. */
  readonly requestId?: string;
  /** What the result was drawn for, and for whom: what the command is to expect. */
  readonly label?: string | undefined;
  readonly dappId?: string | undefined;
  /** What HTTP requests are answered, the time, and other randomness may decide a function's result. */
  readonly isFunction: boolean;
}) {
  const { data: networks, error } = useNetworks();
  const known = networks?.find(({ name }) => name === network);
  const rpcUrl = known?.rpcUrl;
  const contracts = known?.contracts && JSON.stringify(publishedBy(known));
  // An embedded chain has Ethereum's blocks, even under the name of a network that the command knows to have others.
  const blocks = known?.hasEthereumBlocks === false ? " --no-blocks" : known?.embedded ? " --blocks" : "";
  const given = contracts === undefined ? "" : ` --contracts ${quoteForShell(contracts)}`;
  const expected =
    label === undefined || dappId === undefined
      ? ""
      : ` --expect ${quoteForShell(`label=${label}`)} --expect dapp=${dappId}`;
  const command = `npx tyche verify ${network} ${hash} --rpc-url ${rpcUrl ?? "https://ANY-NODE"}${blocks}${given}${expected}`;
  // Until then, the link would lack the addresses.
  if (networks === undefined && error === null) return null;
  return (
    <section className="panel" id="check">
      <h2>Verify without us</h2>
      <p>
        {!isFunction && "Everything that decides this result is on chain. "}
        <a
          data-address={`${location.origin}/verifier.html`}
          href={verifierLink(known, { tx: hash, ...(requestId && { request: requestId }), run: "now" })}
        >
          Check it in the verifier
        </a>
        : it computes every step
        {isFunction && " that can be repeated"} in your browser,{" "}
        {rpcUrl === undefined
          ? "with a node of your choice."
          : "with this service's node, or another of your choice."}
      </p>
      <Folded summary="By a command, and what to compare">
        <p>
          The verifier is a single page: save it, read it, open it from anywhere. This command does the same
          on your own machine, in a folder where Tyche&rsquo;s package is installed:
        </p>
        <p className="copyable">
          <code className="command">{command}</code>
          <CopyButton text={command} what="command" />
        </p>
        <p>
          Both need the addresses of the operator's contracts and its keys, which are filled in: compare them
          with those published elsewhere, if the operator does so.
        </p>
      </Folded>
      {known?.embedded === true && (
        <p className="note">
          This is a local chain: the operator of this service runs it, together with the oracle. The checks
          show that nothing was changed afterwards, and list what you still have to trust.
        </p>
      )}
    </section>
  );
}

/** Returns the address of the verifier with fields filled in: those given, and what it must know of a network. With `run`, it verifies at once. */
export function verifierLink(
  known: ExplorerNetwork | undefined,
  given: { readonly tx: string; readonly request?: string; readonly run?: "now" },
): string {
  const fields = new URLSearchParams({
    ...given,
    ...(known?.rpcUrl === undefined ? {} : { rpc: known.rpcUrl }),
    ...(known?.hasEthereumBlocks === false ? { blocks: "no" } : {}),
    ...(known?.embedded === true ? { chain: "local" } : {}),
    ...(known?.contracts === undefined ? {} : { contracts: JSON.stringify(publishedBy(known)) }),
  });
  return `/verifier.html#${fields.toString()}`;
}

/** Returns what verifiers must know of a network: what its operator publishes, and no more, because it is part of a command. */
function publishedBy(network: ExplorerNetwork) {
  const { chainId, embedded, contracts, deploymentBlock, vrf, beacon, localBeacon } = network;
  const { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer } = contracts ?? {};
  return {
    chainId,
    embedded,
    contracts: { vrfCoordinator, functionsRouter, functionsCoordinator, presetConsumer },
    deploymentBlock,
    // The keys of a chain of the service's own may have been others when the result was made.
    ...(embedded ? {} : { vrf: { keyHashes: vrf.keyHashes } }),
    beacon: beacon?.chainHash === QUICKNET_HASH ? undefined : chainOf(beacon),
    localBeacon: chainOf(localBeacon),
  };
}

/** Returns what a verifier must know of a chain of rounds. */
function chainOf(beacon: ExplorerNetwork["beacon"]) {
  if (beacon === undefined) return undefined;
  const { publicKey, genesisTime, period, groupHash, beaconId } = beacon;
  return { publicKey, genesisTime, period, groupHash, beaconId };
}
