import { NotFoundError } from "../lib/errors.ts";
import { InvalidParameterError } from "../lib/invalidParameter.ts";
import type { StoredDapp } from "../store/dapps.ts";
import type { DappDirectory } from "./dapps.ts";

export type { StoredDapp };

/**
 * Finds the dapp that somebody names by its id or its name; without either, the oldest. An id takes precedence over a name.
 *
 * @throws {NotFoundError} if there is none; `invalid_parameter` if several dapps have the name.
 */
export async function findDapp(
  dapps: Pick<DappDirectory, "list">,
  idOrName: string | undefined,
): Promise<StoredDapp> {
  const all = await dapps.list();
  if (idOrName === undefined) {
    if (all[0] === undefined) throw new NotFoundError("dapp yet; create one with tyche dapp create");
    return all[0];
  }
  const byId = all.find(({ id }) => id === idOrName);
  if (byId !== undefined) return byId;
  const [found, ...others] = all.filter(({ name }) => name === idOrName);
  if (found === undefined) throw new NotFoundError(`dapp ${idOrName}; tyche dapp list names them`);
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(", ");
    const message = `${JSON.stringify(idOrName)} is the name of ${ids}; use the id of the one you mean`;
    throw new InvalidParameterError([{ path: "", message }]);
  }
  return found;
}
