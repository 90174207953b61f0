/**
 * What readable-stream takes from Node: the bundler gives it these instead of the packages of those names (`sandbox/build/buildChild.ts`). They are
 * filled before the library is evaluated.
 */
export const streamParts: Record<string, object> = {};
