/** The exports of `tyche/client`. */
export { createClient, type ClientOptions, type TycheClient } from "./client.ts";
export * from "./errors.ts";
export { createExplorer, type SettledRound, type TycheExplorer } from "./explorer.ts";
export { createOperator, type OperatorOptions, type TycheOperator } from "./operator.ts";
export type { RequestEvent } from "./follow.ts";
export type { Presets } from "./presets.ts";
export type {
  CallOptions,
  DryRunParams,
  FunctionParams,
  LabelParams,
  ListParams,
  PresetOptions,
  RandomParams,
  SimulateParams,
  SubmitOptions,
  Submitted,
} from "./requests.ts";
export type * from "./types.ts";
export { verifyWebhook, type WebhookMessage } from "./verifyWebhook.ts";
export type { LogTriggerCalls, LogTriggerChanges, LogTriggerParams } from "./logTriggers.ts";
export type { ScheduleCalls, ScheduleParams } from "./schedules.ts";
export type { SecretCalls, SecretParams } from "./secrets.ts";
export type { WebhookCalls, WebhookParams } from "./webhooks.ts";
