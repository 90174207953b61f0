import type { CallOptions } from "./requests.ts";
import { createSend } from "./send.ts";
import type { Transport } from "./transport.ts";

/** Creates the calls that a dapp's webhooks, schedules and log triggers have in common. `path` is that of their list. */
export function createResource<View, Made = View>(transport: Transport, path: string) {
  const send = createSend(transport);
  /** Path of one of them, or of a part of it. */
  const of = (id: string, rest = ""): string => `${path}/${encodeURIComponent(id)}${rest}`;
  return {
    send,
    of,
    calls: {
      create: (body: object, options?: CallOptions) =>
        send<Made>({ method: "POST", path, body, isOnce: true }, options),
      list: async (options?: CallOptions) =>
        (await send<{ readonly items: readonly View[] }>({ method: "GET", path }, options)).items,
      get: (id: string, options?: CallOptions) => send<View>({ method: "GET", path: of(id) }, options),
      change: (id: string, body: object, options?: CallOptions) =>
        send<View>({ method: "PATCH", path: of(id), body }, options),
      delete: (id: string, options?: CallOptions) => send<View>({ method: "DELETE", path: of(id) }, options),
    },
  };
}
