/** Runs oracle function sources as the oracle nodes' Deno does, contained in child processes. */
export { createSandboxPool } from "./host/pool.ts";
export {
  RunAbortedError,
  SandboxClosedError,
  SandboxOverloadedError,
  SandboxUnavailableError,
} from "./host/poolErrors.ts";
export type { SandboxPool, SandboxPoolOptions, SandboxStats, SandboxStatus } from "./host/poolTypes.ts";
export { HostCallRefusal, type HostCall, type HostCallContext, type HostUsage } from "./host/hostCall.ts";
export { ACCEPTABLE_LAYERS } from "./host/layers.ts";
export { createFetchCall } from "./host/net/fetchCall.ts";
export {
  createGuardedFetch,
  type FetchOutcome,
  type FetchRequest,
  type GuardedFetch,
  type GuardedFetchOptions,
} from "./host/net/guardedFetch.ts";
export { createRequestBudget } from "./host/net/requestBudget.ts";
export { createGuardedPost, type GuardedPost } from "./host/net/guardedPost.ts";
export { createImportCall } from "./host/net/importCall.ts";
export { createHostPolicy } from "./host/net/hostPolicy.ts";
export { createModuleAllowList, DEVELOPER_MODULES } from "./host/net/modules/allowList.ts";
export {
  createModuleLoader,
  type ModuleLoader,
  type ModuleLoaderOptions,
  type ModuleOutcome,
} from "./host/net/modules/moduleLoader.ts";
export {
  createSandboxNetwork,
  DEVELOPER_NETWORK,
  type SandboxNetwork,
  type SandboxNetworkOptions,
} from "./host/net/network.ts";
export { isPureSource } from "./host/purity/isPureSource.ts";
export { countShownChars } from "./host/secretGuard.ts";
export { SandboxError, SandboxOptionError } from "./host/sandboxError.ts";
export { InvalidRunError } from "./host/validate.ts";
export { simulateScript, type SimulationInput, type SimulationResult } from "./simulateScript.ts";
export { DEFAULT_LIMITS, type RunLimits } from "./limits.ts";
export {
  CRASH_TEXT,
  type RunError,
  type RunErrorKind,
  type RunRequest,
  type RunResult,
  type Touch,
} from "./run.ts";
