import type { CallOptions } from "./limits.ts";
import { createCalls, type Transport } from "./transport.ts";

/** Creates the calls that a dapp's webhooks, schedules and log triggers have in common. `path` is that of their list. */
export function createResource<View, Made = View>(transport: Transport, path: string) {
  const { send, get, getItems } = createCalls(transport);
  /** Path of one of them, or of a part of it. */
  const of = (id: string, rest = ""): string => `${path}/${encodeURIComponent(id)}${rest}`;
  return {
    send,
    get,
    of,
    calls: {
      create: (body: object, options?: CallOptions) =>
        send<Made>({ method: "POST", path, body, isOnce: true }, options),
      list: (options?: CallOptions) => getItems<View>(path, options),
      get: (id: string, options?: CallOptions) => get<View>(of(id), options),
      change: (id: string, body: object, options?: CallOptions) =>
        send<View>({ method: "PATCH", path: of(id), body }, options),
      delete: (id: string, options?: CallOptions) => send<View>({ method: "DELETE", path: of(id) }, options),
    },
  };
}
