/**
 * The system calls that a confined process may still make: memory, its own threads, time, waiting, the descriptors it has. None opens,
 * connects, executes, forks, traces, mounts or names anything outside the process.
 * Numbers: Linux, `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h` (arm64).
 */

/** Architectures with a table, by Node's name; the value is the kernel's `AUDIT_ARCH_*`. */
export const AUDIT_ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

export type Architecture = keyof typeof AUDIT_ARCHITECTURES;

/** A call that is allowed, either always or if the low 32 bits of one argument are one of the values. */
export interface AllowedCall {
  readonly x64: number | null;
  readonly arm64: number | null;
  readonly when?: { readonly argument: number; readonly isOneOf: readonly number[] };
}

/** Calls answered with `ENOSYS`, as by a kernel that lacks them: libuv and glibc then fall back to older ones. */
export const UNKNOWN_CALLS: Readonly<Record<Architecture, readonly number[]>> = {
  // clone3: its flags are in memory, where a filter can't see them; io_uring_setup.
  x64: [435, 425],
  arm64: [435, 425],
};

/**
 * Calls answered with 0 and not made: sched_getparam, sched_getscheduler. For our own threads 0 is true (`SCHED_OTHER`, priority 0), and
 * it reveals nothing about others. V8's mutexes make these calls when they wait, and write a line to standard error if refused.
 */
export const ZERO_CALLS: Readonly<Record<Architecture, readonly number[]>> = {
  x64: [143, 145],
  arm64: [121, 120],
};

/** Flags of pthread_create in glibc and in musl: a thread of this process, no new namespace. */
const THREAD_FLAGS = [0x3d0f00, 0x7d0f00];
/** Flags of a Go thread, on x64 and on arm64. */
const GO_FLAGS = [0xd0f00, 0x50f00];
/** Flags of fork and vfork in the C library and in libuv. */
const FORK_FLAGS = [0x1200011, 0x4111];
const AF_UNIX = 1;
/** F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC; not F_SETOWN, which sends signals to others. */
const DESCRIPTOR_COMMANDS = [0, 1, 2, 3, 4, 1030];
/** FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. */
const DESCRIPTOR_CONTROLS = [0x541b, 0x5421, 0x5450, 0x5451];
/** PR_SET_NAME, PR_GET_NAME, and PR_SET_VMA, with which V8 names its memory. */
const PROCESS_CONTROLS = [15, 16, 0x53564d41];

/**
 * The calls needed besides {@link allowedCalls} to start one static Go program and to be one. The process can only become a program that
 * opens no file; whatever it starts stays in its process group and under the same filter.
 */
export const CALLS_TO_START_PROGRAMS: Readonly<Record<string, AllowedCall>> = {
  execve: { x64: 59, arm64: 221 },
  clone: {
    x64: 56,
    arm64: 220,
    when: { argument: 0, isOneOf: [...THREAD_FLAGS, ...GO_FLAGS, ...FORK_FLAGS] },
  },
  vfork: { x64: 58, arm64: null },
  wait4: { x64: 61, arm64: 260 },
  socketpair: { x64: 53, arm64: 199, when: { argument: 0, isOneOf: [AF_UNIX] } },
  dup2: { x64: 33, arm64: null },
  dup3: { x64: 292, arm64: 24 },
  chdir: { x64: 80, arm64: 49 },
  // Checks that the program exists; existence is all that can still be learned about a file.
  access: { x64: 21, arm64: null },
  faccessat: { x64: null, arm64: 48 },
  arch_prctl: { x64: 158, arm64: null },
  // Adds a further filter for all threads.
  seccomp: { x64: 317, arm64: 277, when: { argument: 1, isOneOf: [1] } },
};

/** The calls that Node's own channel to its parent needs: reading from that descriptor, and learning that a child has ended. */
export function callsOfChannel(descriptor: number): Readonly<Record<string, AllowedCall>> {
  return {
    recvmsg: { x64: 47, arm64: 212, when: { argument: 0, isOneOf: [descriptor] } },
    wait4: { x64: 61, arm64: 260 },
  };
}

/**
 * Returns the system calls that every confined process may make.
 * @param pid Id of the process itself, the only one it may signal or set limits on.
 */
export function allowedCalls(pid: number): Readonly<Record<string, AllowedCall>> {
  return {
    read: { x64: 0, arm64: 63 },
    write: { x64: 1, arm64: 64 },
    readv: { x64: 19, arm64: 65 },
    writev: { x64: 20, arm64: 66 },
    close: { x64: 3, arm64: 57 },
    fstat: { x64: 5, arm64: 80 },
    poll: { x64: 7, arm64: null },
    ppoll: { x64: 271, arm64: 73 },
    shutdown: { x64: 48, arm64: 210 },
    fcntl: { x64: 72, arm64: 25, when: { argument: 1, isOneOf: DESCRIPTOR_COMMANDS } },
    ioctl: { x64: 16, arm64: 29, when: { argument: 1, isOneOf: DESCRIPTOR_CONTROLS } },
    pipe2: { x64: 293, arm64: 59 },
    eventfd2: { x64: 290, arm64: 19 },
    epoll_create1: { x64: 291, arm64: 20 },
    epoll_ctl: { x64: 233, arm64: 21 },
    epoll_wait: { x64: 232, arm64: null },
    epoll_pwait: { x64: 281, arm64: 22 },
    mmap: { x64: 9, arm64: 222 },
    mprotect: { x64: 10, arm64: 226 },
    munmap: { x64: 11, arm64: 215 },
    mremap: { x64: 25, arm64: 216 },
    madvise: { x64: 28, arm64: 233 },
    brk: { x64: 12, arm64: 214 },
    pkey_mprotect: { x64: 329, arm64: 288 },
    pkey_alloc: { x64: 330, arm64: 289 },
    pkey_free: { x64: 331, arm64: 290 },
    membarrier: { x64: 324, arm64: 283 },
    rt_sigaction: { x64: 13, arm64: 134 },
    rt_sigprocmask: { x64: 14, arm64: 135 },
    rt_sigreturn: { x64: 15, arm64: 139 },
    sigaltstack: { x64: 131, arm64: 132 },
    restart_syscall: { x64: 219, arm64: 128 },
    kill: { x64: 62, arm64: 129, when: { argument: 0, isOneOf: [pid] } },
    tgkill: { x64: 234, arm64: 131, when: { argument: 0, isOneOf: [pid] } },
    clone: { x64: 56, arm64: 220, when: { argument: 0, isOneOf: THREAD_FLAGS } },
    set_tid_address: { x64: 218, arm64: 96 },
    set_robust_list: { x64: 273, arm64: 99 },
    rseq: { x64: 334, arm64: 293 },
    futex: { x64: 202, arm64: 98 },
    sched_yield: { x64: 24, arm64: 124 },
    sched_getaffinity: { x64: 204, arm64: 123 },
    exit: { x64: 60, arm64: 93 },
    exit_group: { x64: 231, arm64: 94 },
    prctl: { x64: 157, arm64: 167, when: { argument: 0, isOneOf: PROCESS_CONTROLS } },
    prlimit64: { x64: 302, arm64: 261, when: { argument: 0, isOneOf: [0, pid] } },
    getrlimit: { x64: 97, arm64: 163 },
    getrusage: { x64: 98, arm64: 165 },
    times: { x64: 100, arm64: 153 },
    sysinfo: { x64: 99, arm64: 179 },
    uname: { x64: 63, arm64: 160 },
    getpid: { x64: 39, arm64: 172 },
    gettid: { x64: 186, arm64: 178 },
    getcwd: { x64: 79, arm64: 17 },
    getuid: { x64: 102, arm64: 174 },
    geteuid: { x64: 107, arm64: 175 },
    getgid: { x64: 104, arm64: 176 },
    getegid: { x64: 108, arm64: 177 },
    getrandom: { x64: 318, arm64: 278 },
    clock_gettime: { x64: 228, arm64: 113 },
    clock_getres: { x64: 229, arm64: 114 },
    clock_nanosleep: { x64: 230, arm64: 115 },
    nanosleep: { x64: 35, arm64: 101 },
    gettimeofday: { x64: 96, arm64: 169 },
  };
}
