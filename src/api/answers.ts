// Every schema of an answer; npm run types writes types.ts, the types of the Python client and the shapes that commands check from them.
export * from "./catalogue.ts";
export * from "./explorer.ts";
export * from "./logTriggers.ts";
export * from "./operator.ts";
export * from "./people.ts";
export * from "./requests.ts";
export * from "./results.ts";
export * from "./schedules.ts";
export * from "./secrets.ts";
export * from "./transaction.ts";
export * from "./usage.ts";
export * from "./verification.ts";
export * from "./webhooks.ts";
