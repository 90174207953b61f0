import type { Receipt } from "./client.ts";
import type { Sender } from "./sender.ts";

/** Wraps a sender so that `onReceipt` is called with every receipt before the caller gets it. */
export function observeSender<Payload>(
  sender: Sender<Payload>,
  onReceipt: (receipt: Receipt, payload: Payload) => void,
): Sender<Payload> {
  return {
    ...sender,
    async send(call, payload) {
      const receipt = await sender.send(call, payload);
      onReceipt(receipt, payload);
      return receipt;
    },
    async resume(versions, payload) {
      const receipt = await sender.resume(versions, payload);
      onReceipt(receipt, payload);
      return receipt;
    },
  };
}
