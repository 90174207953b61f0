/** Makes a system call; texts as C strings; the result, or minus the errno. */
export type Native = (number: number, ...args: readonly (number | bigint | string)[]) => number;

/** The C library's `syscall`, for a process to keep from before it gives such calls up. */
export function openNative(): Native {
  const ffi = process.getBuiltinModule("node:ffi");
  const { functions } = ffi.dlopen(null, {
    syscall: { return: "int64", arguments: ["int64", "int64", "int64", "int64", "int64", "int64", "int64"] },
    __errno_location: { return: "pointer", arguments: [] },
  });
  // Neither addresses nor memory can be had later. There is one errno per thread; JavaScript has one thread.
  const errno = ffi.toBuffer(functions.__errno_location(), 4, false);
  const scratch = Array.from({ length: 3 }, () => Buffer.alloc(4_096));
  const addresses = scratch.map((buffer) => ffi.getRawPointer(buffer));
  return (number, ...args) => {
    let texts = 0;
    const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = args.map((arg) => {
      if (typeof arg !== "string") return BigInt(arg);
      scratch[texts]?.fill(0).write(arg, "latin1");
      return addresses[texts++] ?? 0n;
    });
    const result = Number(functions.syscall(BigInt(number), a, b, c, d, e, f));
    return result < 0 ? -errno.readInt32LE(0) : result;
  };
}
