/** The exports of `tyche/client`. */
export { createClient, type ClientOptions, type TycheClient } from "./client.ts";
export * from "./errorClasses.ts";
export * from "./errors.ts";
export { createApiError } from "./transport.ts";
export { createExplorer, type SettledRound, type TycheExplorer } from "./explorer.ts";
export { createOperator, type OperatorOptions, type TycheOperator } from "./operator.ts";
export type { CallOptions } from "./limits.ts";
export type { RequestEvent } from "./follow.ts";
export type { Presets } from "./presets.ts";
export type { LabelParams, PresetOptions, SubmitOptions, Submitted } from "./requests.ts";
export type * from "./types.ts";
export type {
  ChangeScheduleParams as ScheduleParams,
  ChangeTriggerParams as LogTriggerChanges,
  ChangeWebhookParams as WebhookParams,
  CreateTriggerParams as LogTriggerParams,
  DryRunsParams as DryRunParams,
} from "./types.ts";
export { verifyWebhook, type WebhookMessage } from "./verifyWebhook.ts";
export type { LogTriggerCalls } from "./logTriggers.ts";
export type { ScheduleCalls } from "./schedules.ts";
export type { SecretCalls, SecretParams } from "./secrets.ts";
export type { WebhookCalls } from "./webhooks.ts";
