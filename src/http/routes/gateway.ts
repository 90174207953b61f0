import type { Router } from "@koa/router";
import { addressGroup } from "../../lib/addressGroup.ts";
import { readTextBody } from "../body.ts";
import type { RequestState } from "../context.ts";
import { sendJson } from "../frame.ts";
import type { PublicGuard } from "../publicGuard.ts";

/** Longest message: a ciphertext of 10 kB in base64, and what is around it. Bytes. */
const MAX_MESSAGE_BYTES = 32_768;

/** What answers `SecretsManager` of functions-toolkit. */
export interface SecretsGateway {
  /**
   * Answers a JSON-RPC request; never rejects.
   *
   * @param caller whom limits count for.
   */
  answer(text: string, caller: string): Promise<object>;
}

/** Adds `POST /gateway`, whose callers sign what they send. */
export function gatewayRoute(
  router: Router<RequestState>,
  { gateway, guardPublic }: { readonly gateway: SecretsGateway; readonly guardPublic: PublicGuard },
): void {
  router.post("/gateway", async (ctx) => {
    await guardPublic(ctx);
    ctx.set("Cache-Control", "no-store");
    // The toolkit hands its HTTP library a text, which then says that the text is a form.
    const text = await readTextBody(ctx, MAX_MESSAGE_BYTES);
    sendJson(ctx, 200, await gateway.answer(text, addressGroup(ctx.ip)));
  });
}
