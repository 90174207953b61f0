/** The exports of `tyche`: the service, for running it in one's own process. */
export { readConfig, type LoadedConfig, type ReadConfigOptions } from "../config/readConfig.ts";
export { startTyche, type Tyche, type TycheOptions } from "./startTyche.ts";
export { TycheError } from "../lib/errors.ts";
