/** What `tyche` exports: the service, to run it in a process of one's own. */
export { readConfig, type LoadedConfig, type ReadConfigOptions } from "./config/readConfig.ts";
export { startTyche, type Tyche, type TycheOptions } from "./startTyche.ts";
export { TycheError } from "../lib/errors.ts";
