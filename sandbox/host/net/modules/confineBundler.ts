import { openKernel, type Kernel } from "../../child/kernel/kernel.ts";
import { installFilter } from "../../child/kernel/filter.ts";
import { setLimits } from "../../child/kernel/limits.ts";
import { callsOfChannel, CALLS_TO_START_PROGRAMS } from "../../child/kernel/systemCalls.ts";
import { changeUser, type Confinement } from "../../child/confine.ts";

/** Descriptors of Node, of the pipes to esbuild, and of Go. */
const MAX_OPEN_FILES = 128;

/**
 * Gives up what bundling does not need, in two steps around the start of esbuild's process. esbuild inherits the first,
 * which leaves it no file, no socket and no other user's rights; Node then also gives up starting programs.
 * @param startEsbuild Called in between.
 * @throws If anything could not be given up and the operator has not accepted that.
 */
export async function confineBundler(
  { uid, isFilterRequired, kernel: path }: Confinement,
  startEsbuild: () => Promise<unknown>,
): Promise<void> {
  let kernel: Kernel | undefined;
  try {
    kernel = openKernel(path);
  } catch (error) {
    if (isFilterRequired) throw error;
  }
  if (uid !== null) changeUser(uid);
  if (kernel === undefined) return;
  try {
    setLimits(kernel, { maxOpenFiles: MAX_OPEN_FILES });
    installFilter(kernel, { ...CALLS_TO_START_PROGRAMS, ...callsOfChannel(CHANNEL) });
    kernel.renewEventLoop();
  } catch (error) {
    if (isFilterRequired) throw error;
    return;
  }
  await startEsbuild();
  installFilter(kernel, callsOfChannel(CHANNEL));
}

/** The first descriptor after the three that every process has; `fork` in the parent adds no earlier one. */
const CHANNEL = 3;
