import type { Receipt } from "./client.ts";
import type { Sender } from "./sender.ts";

/** Gives back the same sender, which tells `onReceipt` of every receipt before whoever waits for it. */
export function observeSender<Cargo>(
  sender: Sender<Cargo>,
  onReceipt: (receipt: Receipt, cargo: Cargo) => void,
): Sender<Cargo> {
  return {
    ...sender,
    async send(call, cargo) {
      const receipt = await sender.send(call, cargo);
      onReceipt(receipt, cargo);
      return receipt;
    },
    async resume(versions, cargo) {
      const receipt = await sender.resume(versions, cargo);
      onReceipt(receipt, cargo);
      return receipt;
    },
  };
}
