import { useState } from "react";
import type { ExplorerNetwork } from "../../../client/index.ts";
import { announce } from "../announce.ts";

/** A wallet in the browser, as in EIP-1193. */
interface Wallet {
  request(call: { readonly method: string; readonly params: readonly unknown[] }): Promise<unknown>;
}

/** A button that has a wallet add a network (EIP-3085); renders nothing without a wallet, and where the node's address is private. */
export function AddToWallet({
  network: { title, chainId, coin, embedded, rpcUrl },
}: {
  readonly network: Pick<ExplorerNetwork, "title" | "chainId" | "coin" | "embedded" | "rpcUrl">;
}) {
  const [told, tell] = useState("");
  const { ethereum } = globalThis as { readonly ethereum?: Wallet };
  if (ethereum === undefined || rpcUrl === undefined) return null;
  const add = async (): Promise<void> => {
    const network = {
      chainId: `0x${chainId.toString(16)}`,
      chainName: title,
      rpcUrls: [rpcUrl],
      nativeCurrency: { name: coin, symbol: coin.toUpperCase(), decimals: 18 },
    };
    const answer = await ethereum.request({ method: "wallet_addEthereumChain", params: [network] }).then(
      () => `The wallet has ${title}.`,
      () => "The wallet did not add it.",
    );
    tell(answer);
    announce(answer);
  };
  return (
    <p>
      <button type="button" onClick={() => void add()}>
        Add to wallet<span className="visually-hidden"> {title}</span>
      </button>{" "}
      <span className="note">
        {told}
        {told === "" &&
          embedded &&
          "It has the id of the public network: use an account that holds nothing there."}
      </span>
    </p>
  );
}
