/** What this process asks of the kernel directly. Every call throws with its name and errno if the kernel refuses it. */
export interface Kernel {
  /** The raw system call, for calls without a C library function. */
  readonly syscall: (what: string, number: number, ...args: readonly (number | bigint)[]) => bigint;
  /** prctl(2) with unused arguments set to 0. */
  readonly prctl: (what: string, option: number, argument: number) => void;
  /** Sets the soft and the hard limit. */
  readonly setLimit: (what: string, resource: number, value: number) => void;
  /** Rebuilds the event loop's kernel side; see `confine`. */
  readonly renewEventLoop: () => void;
  /** Address of a buffer's first byte, valid as long as the buffer lives. */
  readonly addressOf: (buffer: Buffer) => bigint;
}

/** The exports of `kernel.c`. Each returns the negated errno if the kernel refuses. */
export interface KernelAddon {
  readonly syscall: (number: bigint, ...args: readonly bigint[]) => bigint;
  readonly prctl: (option: bigint, argument: bigint) => bigint;
  readonly setLimit: (resource: bigint, value: bigint) => bigint;
  readonly renewEventLoop: () => bigint;
  readonly addressOf: (buffer: Buffer) => bigint;
}

/**
 * Loads the addon into this process.
 * @param path Its file; `null` if there is none for this machine.
 * @throws If it can't be loaded.
 */
export function loadKernelAddon(path: string | null): KernelAddon {
  if (path === null) throw new Error("there is no kernel addon for this machine");
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports as KernelAddon;
}

/**
 * Opens access to the kernel. Call it before changing user: the new user may not have access to the addon's folder.
 * @param path File of the addon; see `buildKernel`.
 * @throws If the addon can't be loaded.
 */
export function openKernel(path: string | null): Kernel {
  const addon = loadKernelAddon(path);
  const check = (what: string, result: bigint): bigint => {
    if (result < 0n) throw new Error(`${what} failed with errno ${-result}`);
    return result;
  };
  return {
    syscall: (what, number, ...args) => check(what, addon.syscall(BigInt(number), ...args.map(BigInt))),
    prctl: (what, option, argument) => void check(what, addon.prctl(BigInt(option), BigInt(argument))),
    setLimit: (what, resource, value) => void check(what, addon.setLimit(BigInt(resource), BigInt(value))),
    renewEventLoop: () => void check("uv_loop_fork", addon.renewEventLoop()),
    addressOf: addon.addressOf,
  };
}
