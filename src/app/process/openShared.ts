import type { Logger } from "pino";
import type { DatabaseServer } from "../../store/openDatabase.ts";
import { createOperatorAccess, type OperatorAccess } from "../../people/access.ts";
import { createCallCounter, createSharedCallCounter, type CallCounter } from "../../lib/rateLimit.ts";
import type { People } from "../../people/people.ts";
import { deriveKey } from "../../lib/seal.ts";
import { openSharedState } from "../../store/sharedState.ts";
import type { Store } from "../../store/store.ts";

/** The call counter and the operator's sessions. */
export interface SharedParts {
  readonly counter: CallCounter;
  readonly access: OperatorAccess;
  close(): Promise<void>;
}

/**
 * Opens the call counter and the codes of sign-in links: shared by all replicas on a PostgreSQL database, otherwise in this process.
 *
 * @throws {TycheError} `overloaded` when the database does not answer.
 */
export async function openShared(options: {
  readonly database: DatabaseServer | undefined;
  /** Id of this process among those that share the database. */
  readonly replica: string | undefined;
  readonly masterKey: Uint8Array;
  readonly operatorToken: string;
  readonly people: People;
  readonly store: Store;
  readonly log: Logger;
}): Promise<SharedParts> {
  const { database, replica, masterKey, operatorToken, people, store, log } = options;
  const tokenKey = deriveKey(masterKey, "session tokens");
  if (database === undefined)
    return {
      counter: createCallCounter(),
      access: await createOperatorAccess({ operatorToken, tokenKey, people, store }),
      close: async () => {},
    };
  const state = await openSharedState(database.url, {
    ...(replica === undefined ? {} : { replica }),
    operatorToken,
    key: deriveKey(masterKey, "operator token"),
    onWarning: (message) => log.warn(message),
  });
  try {
    const access = await createOperatorAccess({
      operatorToken,
      tokenKey,
      codes: state.codes,
      people,
      store,
    });
    return { counter: createSharedCallCounter(state.calls), access, close: () => state.close() };
  } catch (error) {
    await state.close();
    throw error;
  }
}
