/**
 * Methods that replace the chain with another one, which would lose the oracle's contracts and every dapp's subscriptions, or that make the node
 * query a server of the caller's choice. Matched by the last part of the name, because Anvil has most of them under several prefixes.
 */
const CHAIN_REPLACING = /_(?:reset|loadState|setRpcUrl|setChainId)$/i;
/** Dumps the whole state: many megabytes that only the chain's own storage needs, and mining pauses meanwhile. */
const STATE_DUMPING = /_dumpState$/i;
/** Changes the state without a block, which the log can't record. */
const STATE_CHANGING =
  /^(?:anvil|hardhat|evm|tenderly)_(?!mine|get|node|metadata|dump|snapshot|increaseTime|set(?:Time|NextBlock|BlockTime|Automine|Interval))/;

/**
 * Methods that remove blocks, and those that mark a point to return to. Anvil 1.7.1 notes the newest block first and copies the state only once
 * it is free, so a snapshot taken while blocks are mined has the state of a later block, in which requests of the block it names are already
 * answered.
 */
const SETTING_BACK = /^(?:(?:evm|anvil)_revert|(?:evm|anvil)_snapshot|anvil_(?:reorg|rollback))$/;

/** Whether a method removes blocks or marks a point to return to: nothing may be mined meanwhile. */
export function setsBack(method: string): boolean {
  return SETTING_BACK.test(method);
}

/** Whether a method may change the state without a block: the state must be stored again afterwards. */
export function changesState(method: string): boolean {
  return STATE_CHANGING.test(method);
}

/** Says why a method is refused on an embedded chain, over HTTP and WebSockets alike; `undefined` for methods that are allowed. */
export function refusalOf(method: string): string | undefined {
  if (CHAIN_REPLACING.test(method))
    return `${method} is refused here: it would remove the oracle's contracts and subscriptions. To start a new chain, stop the service, remove this network's folder under "chains" in its data directory, and start it; to undo your own changes, use evm_snapshot and evm_revert`;
  if (STATE_DUMPING.test(method))
    return `${method} is refused here: the chain's state is stored in the service's data directory; copy that while the service is stopped`;
  return undefined;
}
