import type { Logger } from "pino";
import { DamagedRecordError } from "../../store/checksum.ts";
import { parseStoredRequest, type OpenRequest } from "../openRequest.ts";
import type { DamagedRow, OnDamaged, StoredRequest } from "../../store/requests.ts";

/**
 * Requests whose database rows are damaged, whether edited by hand or corrupted on disk. Each affects only itself: reads of
 * several requests leave it out until its row can be read again.
 */
export interface DamagedRequests {
  /** Reads requests without the damaged ones. `list` passes its callback on to the store, which reports damaged rows to it. */
  read(list: (onDamaged: OnDamaged) => Promise<readonly StoredRequest[]>): Promise<OpenRequest[]>;
  /** Number of a network's requests that were found damaged and haven't been read since. */
  count(network: string): number;
}

/** Creates the record of damaged requests, which logs each of them. */
export function createDamagedRequests(log?: Pick<Logger, "error">): DamagedRequests {
  /** Networks by request id. */
  const damaged = new Map<string, string>();

  const note = ({ id, network }: DamagedRow): void => {
    if (damaged.has(id)) return;
    damaged.set(id, network);
    log?.error(
      { id, network },
      "a request is damaged in the database; it is skipped, and all others continue",
    );
  };

  return {
    async read(list) {
      const requests: OpenRequest[] = [];
      for (const stored of await list(note)) {
        try {
          requests.push(parseStoredRequest(stored));
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
