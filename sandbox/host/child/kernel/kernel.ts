import type * as Ffi from "node:ffi";

/** What this process asks of the kernel directly. Every call throws with its name and errno when the kernel refuses it. */
export interface Kernel {
  /** The raw system call; for what the C library has no function for. */
  readonly syscall: (what: string, number: number, ...args: readonly (number | bigint)[]) => bigint;
  /** prctl(2) with unused arguments 0. */
  readonly prctl: (what: string, option: number, argument: number) => void;
  /** Sets the soft and the hard limit. */
  readonly setLimit: (what: string, resource: number, value: number) => void;
  /** Rebuilds the event loop's kernel side; see `confine`. */
  readonly renewEventLoop: () => void;
  /** Address of a buffer's first byte, valid as long as the buffer is. */
  readonly addressOf: (buffer: Buffer) => bigint;
}

/**
 * Opens the way to the kernel through Node's foreign function interface.
 * @throws If this Node was built or started without it.
 */
export function openKernel(): Kernel {
  const ffi = process.getBuiltinModule("node:ffi") as typeof Ffi | undefined;
  if (ffi === undefined) throw new Error("this Node has no foreign function interface");
  const { functions } = ffi.dlopen(null, {
    syscall: { return: "int64", arguments: ["int64", "int64", "int64", "int64", "int64", "int64", "int64"] },
    prctl: { return: "int32", arguments: ["int32", "uint64", "uint64", "uint64", "uint64"] },
    setrlimit: { return: "int32", arguments: ["int32", "pointer"] },
    uv_loop_fork: { return: "int32", arguments: ["pointer"] },
    __errno_location: { return: "pointer", arguments: [] },
  });
  const check = (what: string, result: number | bigint): void => {
    if (Number(result) >= 0) return;
    throw new Error(`${what} failed with errno ${ffi.getInt32(functions.__errno_location())}`);
  };
  return {
    syscall: (what, number, ...args) => {
      const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = args.map(BigInt);
      const result = functions.syscall(BigInt(number), a, b, c, d, e, f);
      check(what, result);
      return result;
    },
    prctl: (what, option, argument) => check(what, functions.prctl(option, BigInt(argument), 0n, 0n, 0n)),
    setLimit: (what, resource, value) => {
      const limit = Buffer.from(BigUint64Array.of(BigInt(value), BigInt(value)).buffer);
      check(what, functions.setrlimit(resource, ffi.getRawPointer(limit)));
    },
    renewEventLoop: () => check("uv_loop_fork", functions.uv_loop_fork(ffi.getCurrentEventLoop())),
    addressOf: (buffer) => ffi.getRawPointer(buffer),
  };
}
