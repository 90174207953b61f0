import type { Kernel } from "./kernel.ts";
import {
  allowedCalls,
  AUDIT_ARCHITECTURES,
  UNKNOWN_CALLS,
  ZERO_CALLS,
  type AllowedCall,
  type Architecture,
} from "./systemCalls.ts";

const SECCOMP: Readonly<Record<Architecture, number>> = { x64: 317, arm64: 277 };
const SECCOMP_SET_MODE_FILTER = 1;
/** Applies to all threads, including those that Node started before its first line of JavaScript. */
const SECCOMP_FILTER_FLAG_TSYNC = 1;

const SECCOMP_RET_KILL_PROCESS = 0x80000000;
const SECCOMP_RET_ERRNO = 0x00050000;
const SECCOMP_RET_ALLOW = 0x7fff0000;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in `struct seccomp_data`; of an argument the low half, as both architectures are little-endian. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const argumentAt = (index: number): number => 16 + 8 * index;

/** `struct sock_filter`: code, jump if true, jump if false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];
const load = (at: number): Instruction => [0x20, 0, 0, at];
const skipUnlessEqual = (value: number, count: number): Instruction => [0x15, 0, count, value];
const answer = (action: number): Instruction => [0x06, 0, 0, action];

/**
 * Makes the kernel refuse, in every thread and for good, each system call that neither {@link allowedCalls} nor `more` names; `more` wins where both
 * name one. Filters add up: a second one only takes more away. A refusal is `EPERM`, so that an occasional probe by the C library gets an answer
 * instead of killing the process.
 * @throws If the kernel has no such filters, or there is no table for this architecture.
 */
export function installFilter(kernel: Kernel, more: Readonly<Record<string, AllowedCall>> = {}): void {
  const architecture = process.arch as Architecture;
  if (!(architecture in AUDIT_ARCHITECTURES)) throw new Error(`no table of system calls for ${process.arch}`);
  const program = Buffer.concat(
    assemble(architecture, { ...allowedCalls(process.pid), ...more }).map(encode),
  );
  // struct sock_fprog: a 16-bit count and, after padding, the address.
  const header = Buffer.alloc(16);
  header.writeUInt16LE(program.length / 8, 0);
  header.writeBigUInt64LE(kernel.addressOf(program), 8);
  const thread = kernel.syscall(
    "seccomp",
    SECCOMP[architecture],
    SECCOMP_SET_MODE_FILTER,
    SECCOMP_FILTER_FLAG_TSYNC,
    kernel.addressOf(header),
  );
  if (thread !== 0n) throw new Error(`thread ${thread} could not take the filter of system calls`);
}

function assemble(architecture: Architecture, calls: Readonly<Record<string, AllowedCall>>): Instruction[] {
  return [
    load(ARCHITECTURE_AT),
    // Another architecture's calls have different numbers.
    [0x15, 1, 0, AUDIT_ARCHITECTURES[architecture]],
    answer(SECCOMP_RET_KILL_PROCESS),
    load(NUMBER_AT),
    ...Object.values(calls).flatMap((call) => allow(call, architecture)),
    ...UNKNOWN_CALLS[architecture].flatMap((number) => [
      skipUnlessEqual(number, 1),
      answer(SECCOMP_RET_ERRNO | ENOSYS),
    ]),
    ...ZERO_CALLS[architecture].flatMap((number) => [
      skipUnlessEqual(number, 1),
      answer(SECCOMP_RET_ERRNO | 0),
    ]),
    answer(SECCOMP_RET_ERRNO | EPERM),
  ];
}

function allow(call: AllowedCall, architecture: Architecture): Instruction[] {
  const number = call[architecture];
  if (number === null) return [];
  const { when } = call;
  if (when === undefined) return [skipUnlessEqual(number, 1), answer(SECCOMP_RET_ALLOW)];
  const block = [
    load(argumentAt(when.argument)),
    ...when.isOneOf.flatMap((value) => [skipUnlessEqual(value, 1), answer(SECCOMP_RET_ALLOW)]),
    answer(SECCOMP_RET_ERRNO | EPERM),
  ];
  return [skipUnlessEqual(number, block.length), ...block];
}

function encode([code, ifTrue, ifFalse, operand]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(operand >>> 0, 4);
  return bytes;
}
