/** Methods that would take the oracle's contracts and every dapp's subscriptions away, chain and all. */
const CHAIN_REPLACING = /^(?:anvil|hardhat)_(?:reset|loadState)$/;
/** Changes of the state without a block, which the log can't tell. */
const STATE_CHANGING =
  /^(?:anvil|hardhat|evm|tenderly)_(?!mine|get|node|metadata|dump|snapshot|increaseTime|set(?:Time|NextBlock|BlockTime|Automine|Interval))/;

/** Whether a method may change the state without a block: the state must be stored again after it. */
export function changesState(method: string): boolean {
  return STATE_CHANGING.test(method);
}

/** Says why a method is refused on a chain of ours; `undefined` for those that are not. */
export function refusalOf(method: string): string | undefined {
  if (!CHAIN_REPLACING.test(method)) return undefined;
  return `${method} is refused here: it would take the oracle's contracts and subscriptions away. To begin with a new chain, stop the service, remove this network's folder under "chains" in its data directory, and start it; to undo your own changes, use evm_snapshot and evm_revert`;
}
