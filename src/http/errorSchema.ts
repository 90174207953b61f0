import { ERROR_TABLE, type ErrorCode } from "../lib/errorTable.ts";

type Json = Readonly<Record<string, unknown>>;

/** The schema of an answer: an object with one member `data`. */
export function enveloped(data: unknown): Json {
  return { type: "object", required: ["data"], additionalProperties: false, properties: { data } };
}

/** An answer with an error, as an example. */
export function errorExample(code: ErrorCode): Json {
  return { data: { success: false, err: ERROR_TABLE[code].meaning, code } };
}

/** The schema of every answer with an error. */
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
          "Every violation, for `invalid_parameter`; for `function_failed` what is behind `err`, where that text alone doesn't say it.",
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
      statusUrl: { type: "string", description: "Address of the request, where there is one." },
      correlationId: { type: "string", description: "For `internal`: names the call in the operator's log." },
    },
  });
}
