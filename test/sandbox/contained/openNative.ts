import { loadKernelAddon } from "../../../sandbox/host/child/kernel/kernel.ts";

/** Makes a system call, with strings as C strings; returns the result or a negative errno. */
export type Native = (number: number, ...args: readonly (number | bigint | string)[]) => number;

/**
 * Opens the C library's `syscall`; a process must do so before it gives such calls up.
 * @param path File of the kernel addon.
 */
export function openNative(path: string | null): Native {
  const addon = loadKernelAddon(path);
  // Neither addresses nor memory are available later.
  const scratch = Array.from({ length: 3 }, () => Buffer.alloc(4_096));
  const addresses = scratch.map((buffer) => addon.addressOf(buffer));
  return (number, ...args) => {
    let texts = 0;
    const values = args.map((arg) => {
      if (typeof arg !== "string") return BigInt(arg);
      scratch[texts]?.fill(0).write(arg, "latin1");
      return addresses[texts++] ?? 0n;
    });
    return Number(addon.syscall(BigInt(number), ...values));
  };
}
