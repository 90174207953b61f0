import type { NetworkBalances } from "../dapps/balances.ts";
import type { ChainConsumer } from "../dapps/chainConsumers.ts";
import type { ConfigVars } from "../dapps/configVars.ts";
import type { DappDirectory } from "../dapps/dapps.ts";
import type { Explorer } from "../explorer/explorer.ts";
import type { OperatorAccess } from "../people/access.ts";
import type { People } from "../people/people.ts";

/** What the operator's part of the API reads and acts on. */
export interface OperatorPart {
  readonly access: Pick<OperatorAccess, "recognize">;
  readonly people: People;
  /** Base URL of the links to the application, without a trailing slash. */
  readonly baseUrl: () => string;
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
