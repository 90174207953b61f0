import type { Hex } from "viem";
import type { ContractRead } from "../../chainlink/contractRead.ts";
import { COORDINATOR_READS } from "../../chainlink/vrfCoordinator.ts";
import { vrfVersionOf } from "../../chainlink/vrfVersion.ts";
import { remember } from "../../lib/memo.ts";
import type { VrfRequest } from "./fulfillment.ts";
import type { OracleLog } from "../log.ts";

/** How long a lane's limit is cached; the coordinator's owner may change it. */
const LANE_MEMORY_MS = 60_000;

/** Returns the gas price in wei above which the coordinator refuses every proof of the key; `undefined`: no limit, or none known. */
export type GasLane = (request: VrfRequest) => Promise<bigint | undefined>;

/** Creates the reader of one key's gas lane; VRFCoordinatorV2 has none. Never rejects. */
export function createGasLane(
  keyHash: Hex,
  ask: <Value>(read: ContractRead<Value>) => Promise<Value>,
  log: OracleLog,
): GasLane {
  const readLimit = remember(
    LANE_MEMORY_MS,
    async () => (await ask(COORDINATOR_READS["v2.5"].lane(keyHash))).maxGasWei,
  );
  return async (request) => {
    if (vrfVersionOf(request) === "v2") return undefined;
    try {
      return await readLimit();
    } catch (error) {
      log.debug({ err: error }, "vrf: can't read the gas lane's limit");
      return undefined;
    }
  };
}
