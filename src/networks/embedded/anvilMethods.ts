import { AnswerError } from "../../evm/connection.ts";
import { RPC_CODES, type RpcRequest } from "./rpcErrors.ts";

/** Methods of the Anvil version pinned in `package.json`, by namespace. A test calls each of them on Anvil. */
const NAMES: Readonly<Record<string, string>> = {
  anvil: `
    addBalance autoImpersonateAccount dealERC20 dropAllTransactions dropTransaction dumpState getAutomine
    getBlobByHash getBlobsByTransactionHash getGenesisTime getIntervalMining impersonateAccount
    impersonateSignature increaseTime loadState metadata mine mine_detailed nodeInfo
    removeBlockTimestampInterval removePoolTransactions reorg reset revert rollback setAutomine setBalance
    setBlockGasLimit setBlockTimestampInterval setChainId setCode setCoinbase setERC20Allowance
    setERC20Balance setFeeAmmLiquidity setFeeToken setIntervalMining setLoggingEnabled setMinGasPrice
    setNextBlockBaseFeePerGas setNextBlockTimestamp setNonce setRpcUrl setStorageAt setTime
    setValidatorFeeToken snapshot stopImpersonatingAccount`,
  debug: `codeByHash dbGet getRawTransaction traceBlockByHash traceBlockByNumber traceCall traceTransaction`,
  erigon: `getHeaderByNumber`,
  eth: `
    accounts blobBaseFee blockNumber call chainId coinbase config createAccessList estimateGas feeHistory
    fillTransaction gasPrice getAccount getAccountInfo getBalance getBlockByHash getBlockByNumber
    getBlockReceipts getBlockTransactionCountByHash getBlockTransactionCountByNumber getCode
    getFilterChanges getFilterLogs getLogs getProof getRawTransactionByBlockHashAndIndex
    getRawTransactionByBlockNumberAndIndex getRawTransactionByHash getStorageAt getStorageValues
    getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionByHash
    getTransactionBySenderAndNonce getTransactionCount getTransactionReceipt getUncleByBlockHashAndIndex
    getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber getWork hashrate
    maxPriorityFeePerGas networkId newBlockFilter newFilter newPendingTransactionFilter protocolVersion
    requestAccounts sendRawTransaction sendRawTransactionSync sendTransaction sendTransactionSync
    sendUnsignedTransaction sign signTransaction signTypedData signTypedData_v3 signTypedData_v4 simulateV1
    submitHashrate submitWork subscribe syncing uninstallFilter unsubscribe`,
  evm: `
    increaseTime mine mine_detailed revert setAccountNonce setAutomine setBlockGasLimit setIntervalMining
    setNextBlockTimestamp setTime snapshot`,
  hardhat: `
    addBalance autoImpersonateAccount dealERC20 dropAllTransactions dropTransaction dumpState getAutomine
    impersonateAccount loadState metadata mine reset setBalance setCode setCoinbase setLoggingEnabled
    setMinGasPrice setNextBlockBaseFeePerGas setNonce setStorageAt stopImpersonatingAccount`,
  net: `listening version`,
  ots: `
    getApiLevel getBlockDetails getBlockDetailsByHash getBlockTransactions getContractCreator
    getInternalOperations getTransactionBySenderAndNonce getTransactionError hasCode searchTransactionsAfter
    searchTransactionsBefore traceTransaction`,
  personal: `sign`,
  tenderly: `addBalance setBalance`,
  trace: `block filter replayBlockTransactions transaction`,
  txpool: `content inspect status`,
  web3: `clientVersion sha3`,
};

/** All methods that Anvil supports. */
export const ANVIL_METHODS: ReadonlySet<string> = new Set(
  Object.entries(NAMES).flatMap(([namespace, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${namespace}_${name}`),
  ),
);

/** Anvil's own answer on its socket to anything it can't parse: unknown methods and wrong parameters alike. */
const UNPARSED = "data did not match any variant of untagged enum EthRpcCall";

/** Wraps chain requests so that an unknown method gets a different error than wrong parameters do. */
export function nameUnknownMethods(request: RpcRequest): RpcRequest {
  return async (method, parameters) => {
    try {
      return await request(method, parameters);
    } catch (error) {
      if (!(error instanceof AnswerError) || error.message !== UNPARSED) throw error;
      throw ANVIL_METHODS.has(method)
        ? new AnswerError(
            `${method} can't be called with these parameters`,
            RPC_CODES.invalidParams,
            undefined,
          )
        : new AnswerError(`there is no method ${method.slice(0, 100)}`, RPC_CODES.methodNotFound, undefined);
    }
  };
}
