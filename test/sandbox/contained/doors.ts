import { join } from "node:path";
import type { Targets } from "./targets.ts";

/** A system call: its number on this machine and its arguments; strings are passed as addresses of C strings. */
export interface NativeCall {
  readonly number: number;
  readonly args: readonly (number | string)[];
}

/** Something that native code in a child may try, and the kernel's refusal: a negative errno. */
export interface Door {
  readonly what: string;
  readonly attempt: NativeCall;
  /** Default: -EPERM. */
  readonly refusal?: number;
}

/** System call numbers on x64 and arm64. */
const CALLS = {
  openat: [257, 56],
  openat2: [437, 437],
  newfstatat: [262, 79],
  readlinkat: [267, 78],
  unlinkat: [263, 35],
  execve: [59, 221],
  execveat: [322, 281],
  clone: [56, 220],
  clone3: [435, 435],
  setsid: [112, 157],
  setpgid: [109, 154],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  fsopen: [430, 430],
  open_tree: [428, 428],
  pivot_root: [155, 41],
  chroot: [161, 51],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  pidfd_open: [434, 434],
  pidfd_send_signal: [424, 424],
  pidfd_getfd: [438, 438],
  fcntl: [72, 25],
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  sendmsg: [46, 211],
  recvmsg: [47, 212],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  prctl: [157, 167],
  prlimit64: [302, 261],
  setpriority: [141, 140],
  sched_setaffinity: [203, 122],
  sched_getscheduler: [145, 120],
  memfd_create: [319, 279],
  shmget: [29, 194],
  mq_open: [240, 180],
  setuid: [105, 146],
  capset: [126, 91],
  name_to_handle_at: [303, 264],
  inotify_init1: [294, 26],
  init_module: [175, 105],
} as const;

/** Returns a system call by name. */
export const call = (name: keyof typeof CALLS, ...args: readonly (number | string)[]): NativeCall => ({
  number: CALLS[name][process.arch === "arm64" ? 1 : 0],
  args,
});

export const EPERM = -1;
const ENOSYS = -38;
export const AT_FDCWD = -100;
const CLONE_NEWUSER = 0x10000000;
const CLONE_NEWNET = 0x40000000;
const CLONE_THREAD_OF_OTHERS = 0x3d0f00 | CLONE_NEWUSER;
const SIGCHLD = 17;
export const AF_UNIX = 1;
export const AF_INET = 2;
const AF_NETLINK = 16;
export const F_SETOWN = 8;
/** `struct sockaddr_un` of the socket file, and `struct sockaddr_in` of the port. */
export const unixAddress = (socketFile: string): string => `\u0001\u0000${socketFile}\u0000`;
export const tcpAddress = (port: number): string =>
  `\u0002\u0000${String.fromCharCode(port >> 8, port & 255, 127, 0, 0, 1)}${"\u0000".repeat(8)}`;

/** Everything that docs/functions.md says is closed, each with arguments that do no harm if it is open. */
export function createDoors({ folder, keyFile, socketFile, port, pid }: Targets): readonly Door[] {
  return [
    { what: "reads a key of the data directory", attempt: call("openat", AT_FDCWD, keyFile, 0) },
    {
      what: "reads it by the newer call",
      attempt: call("openat2", AT_FDCWD, keyFile, "\u0000".repeat(24), 24),
    },
    {
      what: "writes a token into it",
      attempt: call("openat", AT_FDCWD, join(folder, "operator-token"), 0o101, 0o600),
    },
    { what: "removes a file of it", attempt: call("unlinkat", AT_FDCWD, keyFile, 0) },
    { what: "asks whether a file exists", attempt: call("newfstatat", AT_FDCWD, keyFile, "", 0) },
    { what: "reads a link of /proc", attempt: call("readlinkat", AT_FDCWD, `/proc/${pid}/exe`, "", 100) },
    { what: "reads a process's environment", attempt: call("openat", AT_FDCWD, `/proc/${pid}/environ`, 0) },
    { what: "opens a process's memory", attempt: call("openat", AT_FDCWD, `/proc/${pid}/mem`, 2) },
    { what: "opens its own memory", attempt: call("openat", AT_FDCWD, "/proc/self/mem", 2) },
    { what: "gets a handle of a file", attempt: call("name_to_handle_at", AT_FDCWD, keyFile, "", "", 0) },
    { what: "watches a folder", attempt: call("inotify_init1", 0) },
    { what: "makes a file in memory", attempt: call("memfd_create", "x", 0) },
    { what: "executes a program", attempt: call("execve", "/bin/true", 0, 0) },
    { what: "executes a descriptor", attempt: call("execveat", 0, "", 0, 0, 0x1000) },
    { what: "forks", attempt: call("clone", SIGCHLD, 0, 0, 0, 0) },
    {
      what: "starts a thread in other namespaces",
      attempt: call("clone", CLONE_THREAD_OF_OTHERS, 0, 0, 0, 0),
    },
    { what: "forks by the newer call", attempt: call("clone3", "", 64), refusal: ENOSYS },
    { what: "leaves its session", attempt: call("setsid") },
    { what: "leaves its process group", attempt: call("setpgid", 0, 0) },
    { what: "makes a user namespace", attempt: call("unshare", CLONE_NEWUSER) },
    { what: "makes a network namespace", attempt: call("unshare", CLONE_NEWNET) },
    { what: "enters a namespace", attempt: call("setns", 0, 0) },
    { what: "mounts", attempt: call("mount", "x", "/mnt", "tmpfs", 0, 0) },
    { what: "mounts by the newer calls", attempt: call("fsopen", "tmpfs", 0) },
    { what: "clones a mount", attempt: call("open_tree", AT_FDCWD, "/", 1) },
    { what: "changes the root", attempt: call("chroot", "/") },
    { what: "exchanges the root", attempt: call("pivot_root", "/", "/") },
    { what: "traces a process", attempt: call("ptrace", 0x4206, pid, 0, 0) },
    { what: "reads a process's memory", attempt: call("process_vm_readv", pid, "", 1, "", 1, 0) },
    { what: "writes a process's memory", attempt: call("process_vm_writev", pid, "", 1, "", 1, 0) },
    { what: "signals a process", attempt: call("kill", pid, 0) },
    { what: "signals all processes", attempt: call("kill", -1, 0) },
    { what: "signals its group", attempt: call("kill", 0, 0) },
    { what: "signals a thread", attempt: call("tkill", pid, 0) },
    { what: "signals a thread of a process", attempt: call("tgkill", pid, pid, 0) },
    { what: "queues a signal", attempt: call("rt_sigqueueinfo", pid, 0, "") },
    { what: "lets a descriptor signal a process", attempt: call("fcntl", 0, F_SETOWN, pid) },
    { what: "opens a process", attempt: call("pidfd_open", pid, 0) },
    { what: "signals through a descriptor", attempt: call("pidfd_send_signal", 0, 0, 0, 0) },
    { what: "takes a process's descriptor", attempt: call("pidfd_getfd", 0, 0, 0) },
    { what: "makes a socket for files", attempt: call("socket", AF_UNIX, 1, 0) },
    { what: "makes a socket for hosts", attempt: call("socket", AF_INET, 1, 0) },
    { what: "makes a socket to the kernel", attempt: call("socket", AF_NETLINK, 3, 0) },
    { what: "makes a pair of sockets", attempt: call("socketpair", AF_UNIX, 1, 0, "") },
    { what: "connects one that it has to a file", attempt: call("connect", 0, unixAddress(socketFile), 110) },
    { what: "connects one that it has to a port", attempt: call("connect", 0, tcpAddress(port), 16) },
    { what: "sends a descriptor", attempt: call("sendmsg", 1, "", 0) },
    { what: "receives a descriptor", attempt: call("recvmsg", 0, "", 0) },
    { what: "makes a ring", attempt: call("io_uring_setup", 8, ""), refusal: ENOSYS },
    { what: "submits to a ring", attempt: call("io_uring_enter", 4, 1, 0, 0, 0, 0) },
    { what: "registers with a ring", attempt: call("io_uring_register", 4, 0, 0, 0) },
    { what: "handles page faults", attempt: call("userfaultfd", 1) },
    { what: "adds a key", attempt: call("add_key", "user", "x", "y", 1, -3) },
    { what: "requests a key", attempt: call("request_key", "user", "x", 0, 0) },
    { what: "reads the keyring", attempt: call("keyctl", 0, -3, 0) },
    { what: "loads a program into the kernel", attempt: call("bpf", 0, "", 0) },
    { what: "counts events", attempt: call("perf_event_open", "", 0, -1, -1, 0) },
    { what: "loads a module", attempt: call("init_module", "", 0, "") },
    { what: "outlives its parent's death", attempt: call("prctl", 1, 0, 0, 0, 0) },
    { what: "makes itself traceable", attempt: call("prctl", 4, 1, 0, 0, 0) },
    { what: "limits a process", attempt: call("prlimit64", pid, 7, 0, "") },
    { what: "slows a process down", attempt: call("setpriority", 0, pid, 19) },
    { what: "pins a process", attempt: call("sched_setaffinity", pid, 0, "") },
    { what: "shares memory", attempt: call("shmget", 7, 4_096, 0o1666) },
    { what: "opens a message queue", attempt: call("mq_open", "x", 0o102, 0o666, 0) },
    { what: "changes its user", attempt: call("setuid", 0) },
    { what: "takes capabilities", attempt: call("capset", "", "") },
  ];
}
