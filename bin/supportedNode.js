// Runs on old versions of Node too, so that whoever has one is told.
const version = process.versions.node;
const major = Number(version.split(".")[0]);

/** What is wrong with the running Node, and what to do; `undefined` if Tyche runs on it. */
export const nodeProblem =
  // isolated-vm has native code for these two only; a later one may have it.
  major === 24 || major >= 26
    ? undefined
    : `error: Tyche needs Node 24 or 26, and this is Node ${version}. Install Node 26 (https://nodejs.org), and repeat the command.\n`;
