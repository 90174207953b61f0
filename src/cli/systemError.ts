/** Meanings of the error codes that a file named on the command line can cause. */
const MEANINGS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "part of the path is a file, not a folder",
  EISDIR: "it is a folder, not a file",
  EACCES: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
};

/** Describes a file error in words, with its path; any other error keeps its message. */
export function describeSystemError({ code, path, syscall, message }: NodeJS.ErrnoException): string {
  if (syscall === "uv_cwd") return "the working directory no longer exists; change to one that does";
  const meaning = MEANINGS[code ?? ""];
  return meaning === undefined || path === undefined ? message : `can't open ${path}: ${meaning}`;
}
