import type { ExplorerNetwork } from "../../../client/index.ts";
import { Tag } from "./parts.tsx";

/** A network's state as a colored word. */
export function NetworkStatus({ status }: Pick<ExplorerNetwork, "status">) {
  return <Tag kind={status === "serving" ? "good" : status === "starting" ? "busy" : "bad"}>{status}</Tag>;
}
