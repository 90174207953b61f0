import { spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import type { Architecture } from "./child/kernel/systemCalls.ts";

/**
 * Landlock (Linux 5.13) as a layer around a process: a thread restricts itself, and whatever it starts or becomes stays restricted. It
 * must happen before Node starts its threads, because only Linux 7.0 restricts all threads of a process at once. A launcher in Node
 * would cost each child another start of Node, 45 ms of processor time. Debian's `perl`, which every Debian includes, takes 5 ms: it
 * makes the system calls and becomes Node, in the same process.
 */

/** prctl(2); Landlock's calls have the same numbers everywhere. */
const PRCTL: Readonly<Record<Architecture, number>> = { x64: 157, arm64: 167 };

/**
 * `perl -e RESTRICT prctl path… -- command…`: leaves this process the right to read and execute the given files and folders, and no
 * right to any other file; no TCP port (Linux 6.7); no signal and no abstract socket outside its domain (6.12). Then it becomes the
 * command; without one it exits with 0. Rights that the kernel's Landlock is too old for are skipped; without Landlock it exits with
 * 1. `struct landlock_ruleset_attr` and `landlock_path_beneath_attr` are those of `include/uapi/linux/landlock.h`.
 */
const RESTRICT = `
my $prctl = 0 + shift;
my $abi = syscall(444, 0, 0, 1);
exit 1 if $abi < 1;
my $rights = $abi >= 5 ? 16 : $abi >= 3 ? 15 : $abi == 2 ? 14 : 13;
my $size = $abi >= 6 ? 24 : $abi >= 4 ? 16 : 8;
my $ruleset = pack("QQQ", (1 << $rights) - 1, 3, 3);
my $domain = syscall(444, $ruleset, $size, 0);
exit 1 if $domain < 0;
while (@ARGV) {
  my $path = shift;
  last if $path eq "--";
  sysopen(my $file, $path, 0x280000) or next;
  my $rule = pack("Ql", -d $file ? 13 : 5, fileno($file));
  exit 1 if syscall(445, $domain, 1, $rule, 0) != 0;
}
exit 1 if syscall($prctl, 38, 1, 0, 0, 0) != 0;
exit 1 if syscall(446, $domain, 0) != 0;
exit 0 unless @ARGV;
exec { $ARGV[0] } @ARGV;
exit 127;
`;

/** Folders of the system's tools. */
export const TOOL_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** For Node under Landlock: OpenSSL aborts a process whose configuration file exists but can't be read. */
export const NODE_OPTIONS_UNDER_LANDLOCK = ["--openssl-config=/dev/null"];

/** Starts a command that can reach only some files. */
export interface Landlock {
  /**
   * Returns the words to put before a command to start it restricted.
   * @param paths Files, and folders with their contents, that it may read and execute, besides Node and its libraries.
   */
  readonly prefix: (paths: readonly string[]) => readonly string[];
}

/**
 * Checks whether Landlock works here.
 * @param perl Path of perl, or `null`.
 * @returns `null` if it doesn't: no perl, another system, a kernel without Landlock or a container that refuses it.
 */
export function openLandlock(perl: string | null): Landlock | null {
  const prctl = PRCTL[process.arch as Architecture] as number | undefined;
  if (perl === null || process.platform !== "linux" || prctl === undefined) return null;
  const words = [perl, "-e", RESTRICT, String(prctl)];
  const { status } = spawnSync(perl, [...words.slice(1), "--"], { stdio: "ignore", env: {} });
  if (status !== 0) return null;
  const libraries = [...programFiles(), "/etc/ld.so.cache", "/dev/null"];
  return { prefix: (paths) => [...words, ...libraries, ...paths, "--"] };
}

/**
 * Returns Node's own program and the libraries it is linked with: this process runs the same program, so they are mapped into its
 * memory.
 */
function programFiles(): readonly string[] {
  const mapped = readFileSync("/proc/self/maps", "utf8").matchAll(/^\S+ (\S+) \S+ \S+ \d+ +(\/.*)$/gm);
  const files = [...mapped].flatMap(([, rights = "", file = ""]) =>
    rights.includes("x") || /\.so(?:\.[\d.]+)?$/.test(file) ? [file] : [],
  );
  return [...new Set(files)];
}

/** Returns the path of a program in one of the folders, or `null`. */
export function findTool(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch {
      // Not there: try the next folder.
    }
  }
  return null;
}
