import { FaucetResult } from "../../api/results.ts";
import { getAddress } from "viem";
import { countWithin, createCallCounter } from "../../lib/rateLimit.ts";
import type { HttpDeps } from "../context.ts";
import { createOperations, type Operation } from "../operation.ts";
import { checkChecksum } from "./consumers.ts";

/**
 * Faucet calls per dapp and network. The coin comes from the account that mints the LINK for all subscriptions, and at a key's normal
 * call rate its million coins would be gone within an hour.
 */
const GIFTS = { policy: "faucet", quota: 200, windowSeconds: 3_600 } as const;

/** `POST /api/faucet`: coin and LINK on an embedded chain. */
export function faucetOperation(deps: HttpDeps): Operation {
  const counter = createCallCounter();
  const countGift = (dappId: string, network: string): Promise<void> =>
    countWithin(
      counter,
      { ...GIFTS, who: `${dappId} ${network}` },
      `More than ${GIFTS.quota} faucet requests in an hour from one caller on ${network}`,
    );
  return createOperations(deps, { tag: "Catalogue", access: "anybody" })({
    id: "useFaucet",
    method: "post",
    path: "/api/faucet",
    summary: "Get coin and LINK",
    description:
      "Sends 10 coins and 100 LINK, both worthless, to an address on an embedded chain, up to 200 times an hour per dapp and network. Other networks have no faucet.",
    request: "faucet",
    example: { address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" },
    answer: FaucetResult,
    errors: ["chain_unavailable"],
    check: ({ address }) => checkChecksum(address, "/address"),
    async run({ ctx, values: { network, address } }) {
      await countGift(ctx.state.dapp?.id ?? ctx.state.caller?.id ?? "operator", network);
      return await deps.service.useFaucet({ network, address: getAddress(address.toLowerCase()) });
    },
  });
}
