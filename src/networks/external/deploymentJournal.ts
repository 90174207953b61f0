import { existsSync, rmSync } from "node:fs";
import type { Hex } from "viem";
import type { ExistingContracts } from "../../chainlink/stackPlan.ts";
import type { VrfVersion } from "../../chainlink/vrfVersion.ts";
import { NetworkFileError, readJsonFile, writeJsonFile } from "./jsonFile.ts";
import type { OracleIdentity } from "./oracleIdentity.ts";

/** A deployment on its way: everything that was signed, and what follows from it. Nothing in it is secret. */
export interface DeploymentJournal {
  readonly version: 1;
  readonly network: string;
  readonly chainId: number;
  readonly genesis: Hex;
  readonly deployer: Hex;
  readonly firstNonce: number;
  /** Block before the first transaction. */
  readonly startBlock: number;
  readonly oracle: OracleIdentity;
  readonly existing: ExistingContracts;
  readonly donId: string;
  /** Absent for V2. */
  readonly vrfVersion?: VrfVersion;
  /** Of Chainlink's VRF key; absent where the key is the oracle's. */
  readonly keyHash?: Hex;
  readonly minConfirmations: number;
  readonly premiumLinkPpm: number;
  /** As in the contracts file. */
  readonly nativePayment?: boolean;
  readonly laneMaxGasWei?: string;
  /** By step, everything that was signed for its nonce, oldest first; written before it is sent. */
  readonly steps: readonly JournalStep[];
}

/** One step of a deployment. */
export interface JournalStep {
  readonly name: string;
  readonly signed: readonly { readonly hash: Hex; readonly raw: Hex }[];
}

/** Where the journal of a deployment is, by the contracts file that it will write. */
export function journalPathOf(contractsFile: string): string {
  return `${contractsFile}.journal`;
}

/** Returns what an earlier run has left, or `undefined`. */
export function findJournal(contractsFile: string): DeploymentJournal | undefined {
  const path = journalPathOf(contractsFile);
  if (!existsSync(path)) return undefined;
  const found = readJsonFile(path, "run the command again") as unknown as DeploymentJournal;
  if (found.version === 1 && Array.isArray(found.steps)) return found;
  throw new NetworkFileError(path, "is not a journal of this version; move it away to deploy anew");
}

export function saveJournal(contractsFile: string, journal: DeploymentJournal): void {
  writeJsonFile(journalPathOf(contractsFile), journal);
}

export function removeJournal(contractsFile: string): void {
  rmSync(journalPathOf(contractsFile), { force: true });
}
