import type { Logger } from "pino";
import { DamagedRecordError } from "../store/checksum.ts";
import type { DamagedRow, OnDamaged, StoredRequest } from "../store/requests.ts";
import { parseRequest } from "./openRequest.ts";
import type { OpenRequest } from "./openRequest.ts";

/**
 * Requests whose rows in the database are not what was written: somebody has changed them by hand, or a disk has. Each costs itself only:
 * whatever reads several requests leaves it out, until its row can be read again.
 */
export interface DamagedRequests {
  /** Reads requests but for the damaged ones. `list` hands on to the store whom to tell of a damaged row. */
  read(list: (onDamaged: OnDamaged) => Promise<readonly StoredRequest[]>): Promise<OpenRequest[]>;
  /** Those of a network that were met, and not read since. */
  count(network: string): number;
}

/** Creates the record of damaged requests, which writes a line for each. */
export function createDamagedRequests(log?: Pick<Logger, "error">): DamagedRequests {
  /** Networks by the ids of their requests. */
  const damaged = new Map<string, string>();

  const note = ({ id, network }: DamagedRow): void => {
    if (damaged.has(id)) return;
    damaged.set(id, network);
    log?.error(
      { id, network },
      "a request is damaged in the database: it is left alone, and all others go on",
    );
  };

  return {
    async read(list) {
      const requests: OpenRequest[] = [];
      for (const stored of await list(note)) {
        try {
          requests.push(parseRequest(stored));
          damaged.delete(stored.id);
        } catch (error) {
          if (!(error instanceof DamagedRecordError)) throw error;
          note(stored);
        }
      }
      return requests;
    },
    count: (network) => [...damaged.values()].filter((one) => one === network).length,
  };
}
