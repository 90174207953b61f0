import { planSecretKeys } from "../../chainlink/stackPlan.ts";
import { quote } from "../../evm/fees.ts";
import type { ContractsFile } from "./contractsFile.ts";
import { assertChainId } from "./externalNode.ts";
import { assertDeployed } from "./externalSource.ts";
import { writeJsonFile } from "./jsonFile.ts";
import type { PublicSecretKeys } from "./oracleIdentity.ts";
import { sendSteps, type ReconfigurationEnd, type ReconfigureNetworkOptions } from "./reconfigureNetwork.ts";

/**
 * Publishes the keys for secrets that a network's nodes have generated on its coordinator, and records them in the contracts file, from which
 * the service has them. Run again after an interruption, it sends both transactions again.
 *
 * @param options.confirm is told what it costs at most.
 * @returns `present` when the file has these keys already.
 * @throws {DeploymentError} when a transaction reverts.
 */
export async function publishKeys(
  options: Omit<ReconfigureNetworkOptions, "functions" | "confirm"> & {
    readonly keys: PublicSecretKeys;
    readonly confirm: (costWei: bigint) => Promise<boolean>;
  },
): Promise<ReconfigurationEnd> {
  const { profile, client, operator, fees, contracts, file, keys } = options;
  const { oracle } = contracts;
  await assertChainId(client, { network: profile.name, chainId: profile.chainId });
  await assertDeployed(client, contracts);
  const { secretKeys } = oracle.functions;
  if (
    secretKeys?.donPublicKey === keys.donPublicKey &&
    secretKeys.thresholdPublicKey === keys.thresholdPublicKey
  )
    return { end: "present" };
  const steps = planSecretKeys(contracts.contracts.functionsCoordinator, keys).map(
    ({ name, to, data, gas }) => ({
      name,
      call: { to: to!, data, gas },
      hint: `is ${operator.address} the coordinator's owner?`,
    }),
  );
  const { gasPriceWei } = await quote(fees, client);
  const gas = steps.reduce((sum, { call }) => sum + call.gas, 0n);
  if (!(await options.confirm(gas * gasPriceWei))) return { end: "declined" };
  const sent = await sendSteps(options, steps);
  const functions = { ...oracle.functions, secretKeys: keys };
  writeJsonFile(file, { ...contracts, oracle: { ...oracle, functions } } satisfies ContractsFile);
  return { end: "reconfigured", ...sent };
}
