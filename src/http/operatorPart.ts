import type { NetworkBalances } from "../dapps/balances.ts";
import type { ChainConsumer } from "../dapps/chainConsumers.ts";
import type { ConfigVars } from "../dapps/configVars.ts";
import type { DappDirectory } from "../dapps/dapps.ts";
import type { OperatorAccess } from "../dapps/operatorAccess.ts";
import type { Explorer } from "../explorer/explorer.ts";

/** What the operator's part of the API reads and acts on. */
export interface OperatorPart {
  readonly access: Pick<OperatorAccess, "recognize">;
  readonly dapps: DappDirectory;
  readonly explorer: Explorer;
  /** Throws `not_found`. */
  readonly readConfigVars: (dappId: string) => Promise<ConfigVars>;
  /** By network; see `readDappBalances`. */
  readonly readBalances: (dappId: string) => Promise<ReadonlyMap<string, NetworkBalances>>;
  readonly readChainConsumers: (
    dappId: string,
  ) => Promise<ReadonlyMap<string, ReadonlyMap<string, ChainConsumer>>>;
}
