import { getAddress } from "viem";
import { FaucetResult } from "../../requests/results.ts";
import type { HttpDeps } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { Operation } from "../operation.ts";
import { readParameters } from "../parameters.ts";
import { parseRequest } from "../parseRequest.ts";
import { checkChecksum } from "./consumers.ts";

/** `POST /api/faucet`: coin and LINK on an embedded chain. */
export function faucetOperation(deps: HttpDeps): Operation {
  return {
    id: "useFaucet",
    method: "post",
    path: "/api/faucet",
    tag: "Catalogue",
    summary: "Get coin and LINK",
    description:
      "Sends 10 coins and 100 LINK to an address on an embedded chain, where both cost nothing. Networks with nodes of their own have no faucet.",
    request: "faucet",
    placement: "body",
    answer: FaucetResult,
    isAsync: false,
    errors: ["chain_unavailable"],
    async handle(ctx) {
      const given = await readParameters(ctx, deps.limits);
      const { network, address } = parseRequest(given, deps.schemas().validate.faucet, (values) =>
        checkChecksum(values.address, "/address"),
      );
      const gift = await deps.service.useFaucet({
        network,
        address: getAddress(address.toLowerCase()),
      });
      sendJson(ctx, 200, { data: gift });
    },
  };
}
