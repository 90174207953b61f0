/**
 * Typed fragments of the contract interfaces that Tyche uses. A test compares each with the compiler's output. Complete
 * interfaces, for decoding arbitrary data, come from {@link loadArtifacts}.
 */
import { parseAbi, type Abi } from "viem";

/** LinkToken: the ERC-677 token that pays for oracle requests; amounts in juels (1e-18 LINK). */
export const linkTokenAbi = parseAbi([
  "function balanceOf(address account) view returns (uint256)",
  "function grantMintRole(address minter)",
  "function mint(address account, uint256 amount)",
  "function transfer(address to, uint256 amount) returns (bool)",
  "function transferAndCall(address to, uint256 amount, bytes data) returns (bool success)",
]);

/** FixedPriceFeed: LINK's price on a chain without a market. */
export const fixedPriceFeedAbi = parseAbi([
  "constructor(int256 answer, uint8 decimals_)",
  "function decimals() view returns (uint8)",
  "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)",
]);

/** VRFCoordinatorV2. */
export const vrfCoordinatorAbi = parseAbi([
  "constructor(address link, address blockhashStore, address linkEthFeed)",
  "struct FeeConfig { uint32 fulfillmentFlatFeeLinkPPMTier1; uint32 fulfillmentFlatFeeLinkPPMTier2; uint32 fulfillmentFlatFeeLinkPPMTier3; uint32 fulfillmentFlatFeeLinkPPMTier4; uint32 fulfillmentFlatFeeLinkPPMTier5; uint24 reqsForTier2; uint24 reqsForTier3; uint24 reqsForTier4; uint24 reqsForTier5; }",
  "struct Proof { uint256[2] pk; uint256[2] gamma; uint256 c; uint256 s; uint256 seed; address uWitness; uint256[2] cGammaWitness; uint256[2] sHashWitness; uint256 zInv; }",
  "struct RequestCommitment { uint64 blockNum; uint64 subId; uint32 callbackGasLimit; uint32 numWords; address sender; }",
  "function setConfig(uint16 minimumRequestConfirmations, uint32 maxGasLimit, uint32 stalenessSeconds, uint32 gasAfterPaymentCalculation, int256 fallbackWeiPerUnitLink, FeeConfig feeConfig)",
  "function registerProvingKey(address oracle, uint256[2] publicProvingKey)",
  "function requestRandomWords(bytes32 keyHash, uint64 subId, uint16 requestConfirmations, uint32 callbackGasLimit, uint32 numWords) returns (uint256)",
  "function fulfillRandomWords(Proof proof, RequestCommitment rc) returns (uint96)",
  "function getSubscription(uint64 subId) view returns (uint96 balance, uint64 reqCount, address owner, address[] consumers)",
  "function getFeeConfig() view returns (uint32 fulfillmentFlatFeeLinkPPMTier1, uint32 fulfillmentFlatFeeLinkPPMTier2, uint32 fulfillmentFlatFeeLinkPPMTier3, uint32 fulfillmentFlatFeeLinkPPMTier4, uint32 fulfillmentFlatFeeLinkPPMTier5, uint24 reqsForTier2, uint24 reqsForTier3, uint24 reqsForTier4, uint24 reqsForTier5)",
  "function getRequestConfig() view returns (uint16, uint32, bytes32[])",
  "function getCommitment(uint256 requestId) view returns (bytes32)",
  "function pendingRequestExists(uint64 subId) view returns (bool)",
  "function BLOCKHASH_STORE() view returns (address)",
  "function LINK_ETH_FEED() view returns (address)",
  "event RandomWordsRequested(bytes32 indexed keyHash, uint256 requestId, uint256 preSeed, uint64 indexed subId, uint16 minimumRequestConfirmations, uint32 callbackGasLimit, uint32 numWords, address indexed sender)",
  "event RandomWordsFulfilled(uint256 indexed requestId, uint256 outputSeed, uint96 payment, bool success)",
]);

/** BatchVRFCoordinatorV2: several fulfilments in one transaction; one that reverts emits an event instead. */
export const batchVrfCoordinatorAbi = parseAbi([
  "constructor(address coordinatorAddr)",
  "struct Proof { uint256[2] pk; uint256[2] gamma; uint256 c; uint256 s; uint256 seed; address uWitness; uint256[2] cGammaWitness; uint256[2] sHashWitness; uint256 zInv; }",
  "struct RequestCommitment { uint64 blockNum; uint64 subId; uint32 callbackGasLimit; uint32 numWords; address sender; }",
  "function fulfillRandomWords(Proof[] proofs, RequestCommitment[] rcs)",
  "event ErrorReturned(uint256 indexed requestId, string reason)",
  "event RawErrorReturned(uint256 indexed requestId, bytes lowLevelData)",
]);

/** VRFCoordinatorV2_5. */
export const vrfCoordinatorV2PlusAbi = parseAbi([
  "constructor(address blockhashStore)",
  "struct Proof { uint256[2] pk; uint256[2] gamma; uint256 c; uint256 s; uint256 seed; address uWitness; uint256[2] cGammaWitness; uint256[2] sHashWitness; uint256 zInv; }",
  "struct RequestCommitmentV2Plus { uint64 blockNum; uint256 subId; uint32 callbackGasLimit; uint32 numWords; address sender; bytes extraArgs; }",
  "struct RandomWordsRequest { bytes32 keyHash; uint256 subId; uint16 requestConfirmations; uint32 callbackGasLimit; uint32 numWords; bytes extraArgs; }",
  "function setLINKAndLINKNativeFeed(address link, address linkNativeFeed)",
  "function setConfig(uint16 minimumRequestConfirmations, uint32 maxGasLimit, uint32 stalenessSeconds, uint32 gasAfterPaymentCalculation, int256 fallbackWeiPerUnitLink, uint32 fulfillmentFlatFeeNativePPM, uint32 fulfillmentFlatFeeLinkDiscountPPM, uint8 nativePremiumPercentage, uint8 linkPremiumPercentage)",
  "function registerProvingKey(uint256[2] publicProvingKey, uint64 maxGas)",
  "function requestRandomWords(RandomWordsRequest req) returns (uint256 requestId)",
  "function fulfillRandomWords(Proof proof, RequestCommitmentV2Plus rc, bool onlyPremium) returns (uint96 payment)",
  "function fundSubscriptionWithNative(uint256 subId) payable",
  "function getSubscription(uint256 subId) view returns (uint96 balance, uint96 nativeBalance, uint64 reqCount, address subOwner, address[] consumers)",
  "function s_config() view returns (uint16 minimumRequestConfirmations, uint32 maxGasLimit, bool reentrancyLock, uint32 stalenessSeconds, uint32 gasAfterPaymentCalculation, uint32 fulfillmentFlatFeeNativePPM, uint32 fulfillmentFlatFeeLinkDiscountPPM, uint8 nativePremiumPercentage, uint8 linkPremiumPercentage)",
  "function s_provingKeys(bytes32) view returns (bool exists, uint64 maxGas)",
  "function s_requestCommitments(uint256) view returns (bytes32)",
  "function pendingRequestExists(uint256 subId) view returns (bool)",
  "function BLOCKHASH_STORE() view returns (address)",
  "function LINK_NATIVE_FEED() view returns (address)",
  "event RandomWordsRequested(bytes32 indexed keyHash, uint256 requestId, uint256 preSeed, uint256 indexed subId, uint16 minimumRequestConfirmations, uint32 callbackGasLimit, uint32 numWords, bytes extraArgs, address indexed sender)",
  "event RandomWordsFulfilled(uint256 indexed requestId, uint256 outputSeed, uint256 indexed subId, uint96 payment, bool nativePayment, bool success, bool onlyPremium)",
]);

/** BatchVRFCoordinatorV2Plus: like BatchVRFCoordinatorV2; it always asks for the whole payment, never `onlyPremium`. */
export const batchVrfCoordinatorV2PlusAbi = parseAbi([
  "constructor(address coordinatorAddr)",
  "struct Proof { uint256[2] pk; uint256[2] gamma; uint256 c; uint256 s; uint256 seed; address uWitness; uint256[2] cGammaWitness; uint256[2] sHashWitness; uint256 zInv; }",
  "struct RequestCommitmentV2Plus { uint64 blockNum; uint256 subId; uint32 callbackGasLimit; uint32 numWords; address sender; bytes extraArgs; }",
  "function fulfillRandomWords(Proof[] proofs, RequestCommitmentV2Plus[] rcs)",
]);

/** BlockhashStore: keeps block hashes beyond the 256 that the EVM knows. */
export const blockhashStoreAbi = parseAbi([
  "function store(uint256 n)",
  "function storeEarliest()",
  "function getBlockhash(uint256 n) view returns (bytes32)",
]);

/** FunctionsRouter v1.0.0. */
export const functionsRouterAbi = parseAbi([
  "struct Config { uint16 maxConsumersPerSubscription; uint72 adminFee; bytes4 handleOracleFulfillmentSelector; uint16 gasForCallExactCheck; uint32[] maxCallbackGasLimits; uint16 subscriptionDepositMinimumRequests; uint72 subscriptionDepositJuels; }",
  "struct Subscription { uint96 balance; address owner; uint96 blockedBalance; address proposedOwner; address[] consumers; bytes32 flags; }",
  "constructor(address linkToken, Config config)",
  "function proposeContractsUpdate(bytes32[] proposedContractSetIds, address[] proposedContractSetAddresses)",
  "function updateContracts()",
  "function getContractById(bytes32 id) view returns (address)",
  "function paused() view returns (bool)",
  "function getSubscription(uint64 subscriptionId) view returns (Subscription)",
  "struct Commitment { bytes32 requestId; address coordinator; uint96 estimatedTotalCostJuels; address client; uint64 subscriptionId; uint32 callbackGasLimit; uint72 adminFee; uint72 donFee; uint40 gasOverheadBeforeCallback; uint40 gasOverheadAfterCallback; uint32 timeoutTimestamp; }",
  "function getSubscriptionCount() view returns (uint64)",
  "function getSubscriptionsInRange(uint64 subscriptionIdStart, uint64 subscriptionIdEnd) view returns (Subscription[] subscriptions)",
  "function timeoutRequests(Commitment[] requestsToTimeoutByCommitment)",
  "function sendRequest(uint64 subscriptionId, bytes data, uint16 dataVersion, uint32 callbackGasLimit, bytes32 donId) returns (bytes32)",
  "event RequestStart(bytes32 indexed requestId, bytes32 indexed donId, uint64 indexed subscriptionId, address subscriptionOwner, address requestingContract, address requestInitiator, bytes data, uint16 dataVersion, uint32 callbackGasLimit, uint96 estimatedTotalCostJuels)",
  "event RequestProcessed(bytes32 indexed requestId, uint64 indexed subscriptionId, uint96 totalCostJuels, address transmitter, uint8 resultCode, bytes response, bytes err, bytes callbackReturnData)",
  "event RequestTimedOut(bytes32 indexed requestId)",
  "event RequestNotProcessed(bytes32 indexed requestId, address coordinator, address transmitter, uint8 resultCode)",
]);

/** FunctionsCoordinator v1.3.0. */
export const functionsCoordinatorAbi = parseAbi([
  "struct FunctionsBillingConfig { uint32 fulfillmentGasPriceOverEstimationBP; uint32 feedStalenessSeconds; uint32 gasOverheadBeforeCallback; uint32 gasOverheadAfterCallback; uint40 minimumEstimateGasPriceWei; uint16 maxSupportedRequestDataVersion; uint64 fallbackUsdPerUnitLink; uint8 fallbackUsdPerUnitLinkDecimals; uint224 fallbackNativePerUnitLink; uint32 requestTimeoutSeconds; uint16 donFeeCentsUsd; uint16 operationFeeCentsUsd; }",
  "struct Commitment { bytes32 requestId; address coordinator; uint96 estimatedTotalCostJuels; address client; uint64 subscriptionId; uint32 callbackGasLimit; uint72 adminFee; uint72 donFee; uint40 gasOverheadBeforeCallback; uint40 gasOverheadAfterCallback; uint32 timeoutTimestamp; }",
  "constructor(address router, FunctionsBillingConfig config, address linkToNativeFeed, address linkToUsdFeed)",
  "function setDONPublicKey(bytes donPublicKey)",
  "function setThresholdPublicKey(bytes thresholdPublicKey)",
  "function getDONPublicKey() view returns (bytes)",
  "function getThresholdPublicKey() view returns (bytes)",
  "function setConfig(address[] _signers, address[] _transmitters, uint8 _f, bytes _onchainConfig, uint64 _offchainConfigVersion, bytes _offchainConfig)",
  "function latestConfigDetails() view returns (uint32 configCount, uint32 blockNumber, bytes32 configDigest)",
  "function transmitters() view returns (address[])",
  "function transmit(bytes32[3] reportContext, bytes report, bytes32[] rs, bytes32[] ss, bytes32 rawVs)",
  "event OracleRequest(bytes32 indexed requestId, address indexed requestingContract, address requestInitiator, uint64 subscriptionId, address subscriptionOwner, bytes data, uint16 dataVersion, bytes32 flags, uint64 callbackGasLimit, Commitment commitment)",
  "event OracleResponse(bytes32 indexed requestId, address transmitter)",
  "event Transmitted(bytes32 configDigest, uint32 epoch)",
]);

/** SubscriptionOwner: the dapps' subscriptions of VRFCoordinatorV2 and FunctionsRouter. */
export const subscriptionOwnerAbi = parseAbi([
  "constructor(address owner_, address vrfCoordinator, address functionsRouter, address link)",
  "function subscriptionsOf(bytes32 dapp) view returns (uint256 vrfSubId, uint64 functionsSubId)",
  "function provision(bytes32 dapp, uint96 vrfJuels, uint96 functionsJuels, address consumer) returns (uint256 vrfSubId, uint64 functionsSubId)",
  "function fund(uint64 vrfSubId, uint96 vrfJuels, uint64 functionsSubId, uint96 functionsJuels)",
  "function addConsumer(uint64 vrfSubId, uint64 functionsSubId, address consumer)",
  "function removeConsumer(uint64 vrfSubId, uint64 functionsSubId, address consumer)",
  "function close(bytes32 dapp, address to)",
  "function withdraw(address to, uint256 juels)",
  "function setSecretsSigner(uint64 functionsSubId, address signer, bytes signature)",
  "function withdrawSecretsConsent(uint64 functionsSubId)",
  "function secretsConsentOf(uint64 functionsSubId) view returns (address signer, uint96 number, bytes signature)",
  "function nextConsentOf(uint64 functionsSubId, address signer) view returns (uint96)",
  "function signedFor(address signer) view returns (uint256)",
  "function owner() view returns (address)",
  "event SecretsSignerSet(uint64 indexed functionsSubId, address indexed signer)",
  "event Provisioned(bytes32 indexed dapp, uint256 indexed vrfSubId, uint64 indexed functionsSubId, bool created)",
  "event Closed(bytes32 indexed dapp, uint256 indexed vrfSubId, uint64 indexed functionsSubId, address to)",
  "error UnknownDapp(bytes32 dapp)",
  "error NoConsent(string message)",
]);

/** PresetConsumer in both versions: sends the operator's requests, and takes the results of presets; `presetBatch.ts` packs both. */
export const presetConsumerAbi = parseAbi([
  "constructor(address operator, address vrfCoordinator, address batchVrfCoordinator, address functionsRouter, bytes32 donId)",
  "struct PresetCall { uint256 vrfSubId; bytes32 keyHash; uint16 confirmations; bytes batch; }",
  "struct FunctionCall { uint64 functionsSubId; bytes data; }",
  "struct RandomCall { uint256 vrfSubId; bytes32 keyHash; uint16 confirmations; uint32 numWords; }",
  "struct JoinedCall { uint256 vrfSubId; bytes32[] keyHashes; uint16 confirmations; uint32 numWords; bytes batch; }",
  "struct Label { uint256 index; uint256 item; string dapp; string text; }",
  "struct SignedReport { bytes report; bytes signatures; }",
  "function storeSource(bytes source) returns (uint16 sourceId)",
  "function sourceOf(uint16 sourceId) view returns (bytes source)",
  "function OPERATOR() view returns (address)",
  "function sourceIdOf(bytes32 sourceHash) view returns (uint16 sourceId)",
  "function recordOf(uint256 vrfRequestId) view returns (uint256 record)",
  "function submit(PresetCall[] presets, FunctionCall[] functions, RandomCall[] randoms, Label[] labels)",
  "function submitJoined(JoinedCall[] calls, Label[] labels)",
  "function adoptNodes(bytes config)",
  "function adoptedNodes() view returns (bytes32 configDigest, uint8 f, address[] signers)",
  "function deliver(bytes fulfilment, SignedReport[] reports)",
  "function rawFulfillRandomWords(uint256 vrfRequestId, uint256[] randomWords)",
  "function handleOracleFulfillment(bytes32, bytes, bytes) view",
  "event SourceStored(uint16 indexed sourceId, bytes32 indexed sourceHash)",
  "event Accepted(uint256 index, uint256 requestId)",
  "event Refused(uint256 index, bytes reason)",
  "event Labelled(bytes32 indexed labelHash, uint256 index, uint256 item, string dapp, string label)",
  "event BatchRequested(uint256 indexed vrfRequestId, bytes batch)",
  "event Joining(uint256 indexed requestId, bytes32[] keyHashes, uint256[] parts)",
  "event WordsJoined(uint256 indexed requestId, uint256 seed)",
  "event BatchReported(uint256 indexed vrfRequestId, bytes results)",
  "event NodesAdopted(bytes32 configDigest)",
  "error OnlyOperator(address have, address want)",
  "error OnlyCoordinatorCanFulfill(address have, address want)",
  "error OnlyRouterCanFulfill(address have, address want)",
  "error NotTheConfiguration(bytes32 have, bytes32 want)",
  "error NotSigned()",
  "error BadLength(uint256 have, uint256 max)",
  "error UnknownSource(uint256 sourceId)",
  "error BadKeyHashes()",
  "error InsufficientGas()",
]);

/** SubscriptionOwnerV2Plus: the dapps' subscriptions of VRFCoordinatorV2_5 and FunctionsRouter. */
export const subscriptionOwnerV2PlusAbi = withWideIds(subscriptionOwnerAbi);

/**
 * The sample consumer contract that callers deploy themselves, which `src/dapps/sampleConsumer.ts` writes; the last three events are its
 * base contract's of VRF v2.5.
 */
export const sampleConsumerAbi = parseAbi([
  "function roll() returns (uint256 requestId)",
  "function resultOf(uint256 requestId) view returns (uint256 result)",
  "event Rolling(uint256 indexed requestId, address indexed player)",
  "event Rolled(uint256 indexed requestId, uint256 result)",
  "event CoordinatorSet(address vrfCoordinator)",
  "event OwnershipTransferRequested(address indexed from, address indexed to)",
  "event OwnershipTransferred(address indexed from, address indexed to)",
]);

/** How PresetConsumerV2Plus pays for random words. */
export const wordPaymentAbi = parseAbi(["function NATIVE_PAYMENT() view returns (bool)"]);

/** The constructor of PresetConsumerV2Plus. */
export const presetConsumerV2PlusConstructorAbi = parseAbi([
  "constructor(address operator, address vrfCoordinator, address batchVrfCoordinator, address functionsRouter, bytes32 donId, bool nativePayment)",
]);

/**
 * Returns an interface with the `uint256` subscription ids of VRF v2.5. Values have the same encoding and the same types in
 * TypeScript; only the function selectors differ.
 */
function withWideIds<Fragments extends Abi>(abi: Fragments): Fragments {
  return JSON.parse(JSON.stringify(abi), (_, value: unknown) =>
    isSubscriptionId(value) ? { ...value, type: "uint256" } : value,
  ) as Fragments;
}

function isSubscriptionId(value: unknown): value is { readonly name: "vrfSubId" } {
  return typeof value === "object" && value !== null && "name" in value && value.name === "vrfSubId";
}
