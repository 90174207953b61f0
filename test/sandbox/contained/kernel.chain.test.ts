import { constants } from "node:os";
import { expect, test } from "vitest";
import { openKernel } from "../../../sandbox/host/child/kernel/kernel.ts";
import { findKernel } from "../../../sandbox/build/buildKernel.ts";
import { isLinux } from "./targets.ts";

const { EINVAL, ENOSYS } = constants.errno;
/** The number of no system call. */
const NO_NUMBER = 99_999;

test.runIf(isLinux)("what the kernel does is given back", () => {
  const { syscall } = openKernel(findKernel());
  // getpid(2)
  expect(syscall("getpid", process.arch === "x64" ? 39 : 172)).toBe(BigInt(process.pid));
});

test.runIf(isLinux)(
  "what the kernel refuses is thrown with its name and errno, and never passed over",
  () => {
    const kernel = openKernel(findKernel());
    expect(() => kernel.syscall("nothing", NO_NUMBER)).toThrow(`nothing failed with errno ${ENOSYS}`);
    expect(() => kernel.prctl("prctl", NO_NUMBER, 0)).toThrow(`prctl failed with errno ${EINVAL}`);
    expect(() => kernel.setLimit("setrlimit", NO_NUMBER, 0)).toThrow(`setrlimit failed with errno ${EINVAL}`);
  },
);

test("without an addon there is no way to the kernel", () => {
  expect(() => openKernel(null)).toThrow("there is no kernel addon for this machine");
});
