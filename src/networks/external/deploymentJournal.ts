import { existsSync, rmSync } from "node:fs";
import type { Hex } from "viem";
import type { ExistingContracts } from "../../chainlink/stackPlan.ts";
import type { VrfVersion } from "../../chainlink/vrfVersion.ts";
import { NetworkFileError, readJsonFile, writeJsonFile } from "./jsonFile.ts";
import type { OracleIdentity } from "./oracleIdentity.ts";

/** A deployment in progress: everything that was signed, and what it was planned from. Nothing in it is secret. */
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
  /** Hash of Chainlink's VRF key; absent when the key is the oracle's. */
  readonly keyHash?: Hex;
  readonly minConfirmations: number;
  readonly premiumLinkPpm: number;
  /** As in the contracts file. */
  readonly nativePayment?: boolean;
  readonly laneMaxGasWei?: string;
  /** For each step, everything that was signed for its nonce, oldest first; persisted before it is sent. */
  readonly steps: readonly JournalStep[];
}

/** One step of a deployment. */
export interface JournalStep {
  readonly name: string;
  readonly signed: readonly { readonly hash: Hex; readonly raw: Hex }[];
}

/** Returns the path of a deployment's journal, next to the contracts file it will write. */
export function journalPathOf(contractsFile: string): string {
  return `${contractsFile}.journal`;
}

/** Returns the journal that an earlier run left, or `undefined`. */
export function findJournal(contractsFile: string): DeploymentJournal | undefined {
  const path = journalPathOf(contractsFile);
  if (!existsSync(path)) return undefined;
  const found = readJsonFile(path, "run the command again") as unknown as DeploymentJournal;
  if (found.version === 1 && Array.isArray(found.steps)) return found;
  throw new NetworkFileError(path, "is not a journal of this version; move it away to redeploy");
}

export function saveJournal(contractsFile: string, journal: DeploymentJournal): void {
  writeJsonFile(journalPathOf(contractsFile), journal);
}

export function removeJournal(contractsFile: string): void {
  rmSync(journalPathOf(contractsFile), { force: true });
}
