/**
 * Methods that put another chain in place of this one, which would take the oracle's contracts and every dapp's subscriptions away,
 * or have the node ask a server of the caller's choice. By the last part of the name: Anvil has most under several prefixes.
 */
const CHAIN_REPLACING = /_(?:reset|loadState|setRpcUrl|setChainId)$/i;
/** Writes the whole state out, many megabytes that nobody but a chain's own keeping needs; mining rests meanwhile. */
const STATE_DUMPING = /_dumpState$/i;
/** Changes of the state without a block, which the log can't tell. */
const STATE_CHANGING =
  /^(?:anvil|hardhat|evm|tenderly)_(?!mine|get|node|metadata|dump|snapshot|increaseTime|set(?:Time|NextBlock|BlockTime|Automine|Interval))/;

/**
 * What takes blocks back, and what a chain goes back to: Anvil 1.7.1 notes the newest block first and copies the state once it is free, so that a
 * snapshot in between has the state of a later block, in which requests of the one it names are answered already.
 */
const SETTING_BACK = /^(?:(?:evm|anvil)_revert|(?:evm|anvil)_snapshot|anvil_(?:reorg|rollback))$/;

/** Whether a method takes blocks back, or marks the place to go back to: nothing may be mined meanwhile. */
export function setsBack(method: string): boolean {
  return SETTING_BACK.test(method);
}

/** Whether a method may change the state without a block: the state must be stored again after it. */
export function changesState(method: string): boolean {
  return STATE_CHANGING.test(method);
}

/** Says why a method is refused on a chain of ours, on every way in; `undefined` for those that are not. */
export function refusalOf(method: string): string | undefined {
  if (CHAIN_REPLACING.test(method))
    return `${method} is refused here: it would take the oracle's contracts and subscriptions away. To begin with a new chain, stop the service, remove this network's folder under "chains" in its data directory, and start it; to undo your own changes, use evm_snapshot and evm_revert`;
  if (STATE_DUMPING.test(method))
    return `${method} is refused here: the chain's state is stored in the service's data directory; copy that while the service is stopped`;
  return undefined;
}
