import { ERROR_TABLE, type ErrorCode } from "../lib/errorTable.ts";

type Json = Readonly<Record<string, unknown>>;

/** Returns the schema of a response: an object with the single member `data`. */
export function enveloped(data: unknown): Json {
  return { type: "object", required: ["data"], additionalProperties: false, properties: { data } };
}

/** Returns an example of an error response. */
export function errorExample(code: ErrorCode): Json {
  return { data: { success: false, err: ERROR_TABLE[code].meaning, code } };
}

/** Returns the schema of every error response. */
export function errorSchema(): Json {
  return enveloped({
    type: "object",
    required: ["success", "err", "code"],
    properties: {
      success: { const: false },
      err: { type: "string", description: "One sentence." },
      code: { enum: Object.keys(ERROR_TABLE), description: "Stable: branch on it." },
      details: {
        type: "array",
        description:
          "For `invalid_parameter`, every violation; for `function_failed`, the cause of `err` if its text doesn't state it.",
        items: {
          type: "object",
          required: ["path", "message"],
          properties: {
            path: { type: "string", description: "JSON Pointer to the parameter." },
            message: { type: "string" },
          },
        },
      },
      id: { type: "string", description: "Identifier of the request, where there is one." },
      shareUrl: {
        type: "string",
        description: "Public page of the request's result, where there is a request.",
      },
      value: { type: "null", description: "Where there is a request: it has no value." },
      statusUrl: { type: "string", description: "Address of the request, where there is one." },
      correlationId: { type: "string", description: "For `internal`: names the call in the operator's log." },
    },
  });
}
