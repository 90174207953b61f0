"""The answers of the API and a class for each error code. Written by `npm run types`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from .errors import ApiError, FunctionFailedError


__all__ = [
    "BeaconLateError",
    "BeaconMissedError",
    "BeaconView",
    "BodyTooLargeError",
    "ChainRound",
    "ChainUnavailableError",
    "Comparison",
    "ConsumerList",
    "ConsumerResult",
    "DryRunPage",
    "DryRunView",
    "DryRunViewDetails",
    "FaucetResult",
    "ForbiddenError",
    "FunctionFailedError",
    "FunctionResult",
    "HeadersTooLargeError",
    "HostNotAllowedError",
    "IdempotencyConflictError",
    "InternalError",
    "InvalidParameterError",
    "KeyExpiredError",
    "LabelTakenError",
    "LinkedConsumer",
    "LinkedConsumerOnChain",
    "MalformedHttpError",
    "MalformedJsonError",
    "MethodNotAllowedError",
    "NameTakenError",
    "NetworkView",
    "NetworkViewBeacon",
    "NetworkViewContracts",
    "NetworkViewFunctions",
    "NetworkViewLocalBeacon",
    "NetworkViewVrf",
    "NotFoundError",
    "OracleNodeView",
    "OracleTimeoutError",
    "OriginNotAllowedError",
    "Outcome",
    "OverloadedError",
    "PresetResult",
    "PresetView",
    "PresetViewExamples",
    "RandomResult",
    "RateLimitedError",
    "RequestFailedError",
    "RequestKind",
    "RequestLabel",
    "RequestLabelDraws",
    "RequestLabelSearched",
    "RequestPage",
    "RequestState",
    "RequestTimeoutError",
    "RequestVerification",
    "RequestVerificationPreset",
    "RequestVerificationTransactions",
    "RequestView",
    "RequestViewDryRun",
    "RequestViewError",
    "ReturnType",
    "SecretView",
    "SecretsUnreadableError",
    "ShownResult",
    "ShownResult1",
    "ShownResult2",
    "ShownResult3",
    "SimulateResult",
    "SimulateResultDetails",
    "StateChange",
    "StepName",
    "StillPendingError",
    "TooManyConsumersError",
    "UnauthenticatedError",
    "UnsupportedMediaTypeError",
    "UsageDay",
    "UsageDayRequests",
    "UsageReport",
    "Verdict",
    "Verification",
    "VerificationStep",
    "WordWithheldError",
]


class BeaconView(TypedDict):
    "A future round of drand that a preset's word also follows from."

    # Number of the round.
    round: str
    # When the round is due. The request must be mined before.
    time: str
    # The chain of rounds: `0x52db…` is drand's quicknet.
    chainHash: str
    # The round is one of the service's own beacon, which proves nothing.
    isLocal: NotRequired[Literal[True]]


class ChainRound(TypedDict):
    "A round as the chain has it: when it is due follows from its chain of rounds."

    # Number of the round.
    round: str
    # Null for a chain of rounds that is not known.
    time: str | None
    # The chain of rounds: `0x52db…` is drand's quicknet.
    chainHash: str
    # The round is one of the service's own beacon, which proves nothing.
    isLocal: NotRequired[Literal[True]]


class Comparison(TypedDict):
    "Two values that must be equal."

    what: str
    # What follows from the step before, or from the chain's registers.
    expected: str
    # The value that was used.
    found: str


class ConsumerList(TypedDict):
    linked: list[LinkedConsumer]


class ConsumerResult(TypedDict):
    "Outcome of linking or unlinking a contract."

    # Whether the consumer was linked.
    success: bool
    # Identifier of the request here: the one of `/api/requests/{id}`.
    id: str
    # Network on which the request ran.
    network: str
    # Hash of the linking transaction.
    transactionHash: str


class DryRunPage(TypedDict):
    "A page of dry runs and refused calls."

    # Newest first.
    items: list[DryRunView]
    # Give it as `cursor` for the next page; null on the last one.
    nextCursor: str | None


class DryRunView(TypedDict):
    "A source that ran without creating a request: in a dry run that was asked for, or in a call that was refused."

    # `dry_` and 26 characters, ordered by time.
    id: str
    # `dry-run`: a dry run was requested; the others: a call of that kind was refused.
    kind: Literal['dry-run', 'preset', 'function']
    # `null` where none was named.
    network: str | None
    # When it ran.
    at: str
    # Name of the preset, or the beginning of the source.
    title: str
    # Whether the source returned a result.
    success: bool
    # At most 1,000 characters.
    parsedResult: str
    # `0x` means no error.
    err: str
    # The first 1,000 characters that the source wrote.
    console: str
    # Line where the source threw.
    line: NotRequired[int]
    # Column on that line.
    column: NotRequired[int]
    # Duration of the run in milliseconds.
    timeMs: NotRequired[float]
    # Heap in use at the end of the run, in bytes; 0 if it was stopped.
    memoryBytes: NotRequired[int]
    # HTTP requests that the source made.
    httpRequests: NotRequired[int]
    # The cause of `err`, if its text doesn't state it.
    details: NotRequired[list[DryRunViewDetails]]
    # What to know about the source although it ran: for example, that it uses time or randomness, which differ from node to node.
    warnings: NotRequired[list[str]]
    # Of a refused call, where one run is read: its source and arguments with the names of its secrets, or the preset with its parameters. Absent once 1 MB of newer ones is kept.
    params: NotRequired[dict[str, Any]]
    # `true` if the result showed a secret: `parsedResult` is empty then.
    withheld: NotRequired[bool]


class DryRunViewDetails(TypedDict):
    # JSON Pointer to the parameter.
    path: str
    # What is wrong, where, and what to do.
    message: str


class FaucetResult(TypedDict):
    "Outcome of a faucet call."

    # Whether the request was successful.
    success: bool
    # The network's own coin, in wei.
    coinWei: str
    # LINK, in juels.
    linkJuels: str
    # The transfer of coin, then that of LINK.
    transactionHashes: list[str]


class FunctionResult(TypedDict):
    "Outcome of a function run."

    # Whether the request was successful.
    success: bool
    # Identifier of the request here: the one of `/api/requests/{id}`.
    id: str
    # Network on which the request ran.
    network: str
    # Request identifier assigned by the oracle network, 32 bytes.
    requestId: str
    # The generated output, as the oracle network reported it; `0x` when it failed.
    result: str
    # The result decoded according to `returnType`; empty when the function failed.
    parsedResult: str
    # The decoded result; `null` when the function failed.
    value: str | None
    # Error message, if any. `0x` means no error.
    err: str
    # Code of the failure; absent after a success.
    code: NotRequired[Literal['function_failed']]
    # Explorer page of the transaction that delivered the result.
    url: str
    # What to know about the source although it ran: for example, that it uses time or randomness, which differ from node to node.
    warnings: NotRequired[list[str]]
    # Public page with the result: `/r/{id}`.
    shareUrl: str
    # What the request is for, as it is on chain; absent without a label.
    label: NotRequired[str]
    # The round of drand that the request fixed; absent without one.
    beacon: NotRequired[BeaconView]


class LinkedConsumer(TypedDict):
    "A contract that is linked to a dapp's subscriptions."

    network: str
    # Checksummed address.
    address: str
    # The subscriptions that it is linked to on chain; `null` if the chain could not be reached.
    onChain: LinkedConsumerOnChain | None
    # When the service linked it, if known.
    linkedAt: NotRequired[str]
    # The transaction that linked it.
    transactionHash: NotRequired[str]


class LinkedConsumerOnChain(TypedDict):
    vrf: bool
    functions: bool


class NetworkView(TypedDict):
    "A network as callers see it."

    # The value of `network` parameters.
    name: str
    # Name for people; that of a chain that Tyche runs says so.
    title: str
    chainId: int
    # Symbol of the coin that pays for gas, such as `ETH`; `coin` if unknown.
    coin: str
    # Whether Tyche runs this chain itself.
    embedded: bool
    # Whether a block's hash is that of an Ethereum header, so that a verification can recompute it.
    hasEthereumBlocks: bool
    # URL at which your own tools reach the chain.
    rpcUrl: NotRequired[str]
    # Transactions are at `{explorerUrl}/tx/{hash}`.
    explorerUrl: str
    status: Literal['starting', 'serving', 'unavailable']
    # Why it isn't serving.
    statusDetail: NotRequired[str]
    contracts: NetworkViewContracts
    # Block in which the deployment of these contracts had ended, where a search for requests may begin; absent for embedded chains.
    deploymentBlock: NotRequired[int]
    vrf: NetworkViewVrf
    functions: NetworkViewFunctions
    # The rounds of drand that presets may wait for; absent if they may not.
    beacon: NotRequired[NetworkViewBeacon]
    # The rounds of the service's own beacon, for `beacon: "local"`: whoever runs the service knows all of them, so they prove nothing.
    localBeacon: NotRequired[NetworkViewLocalBeacon]
    # The oracle's nodes, where several operators run them.
    nodes: NotRequired[list[OracleNodeView]]


class NetworkViewBeacon(TypedDict):
    "The rounds of drand that presets may wait for; absent if they may not."

    # Hash of the chain of rounds.
    chainHash: str
    # Key that signs the rounds.
    publicKey: str
    # Unix time of round 1, in seconds.
    genesisTime: int
    # Seconds between rounds.
    period: int
    groupHash: str
    beaconId: str
    # How far in the future a request's round is.
    marginSeconds: int
    # Whether presets wait for a round where neither call nor dapp says otherwise.
    isDefault: bool


class NetworkViewContracts(TypedDict):
    # LINK token
    link: str
    # VRFCoordinatorV2, or VRFCoordinatorV2_5 where `vrf.version` is v2.5
    vrfCoordinator: str
    # FunctionsRouter
    functionsRouter: str
    # FunctionsCoordinator
    functionsCoordinator: str
    # Consumer through which presets run
    presetConsumer: str
    # Owner of the subscriptions
    subscriptionOwner: str


class NetworkViewFunctions(TypedDict):
    # Name of the oracle network that runs the functions.
    donId: str
    maxSourceBytes: int
    # Maximum size of the whole encoded request.
    maxRequestBytes: int
    maxResponseBytes: int


class NetworkViewLocalBeacon(TypedDict):
    "The rounds of the service's own beacon, for `beacon: \"local\"`: whoever runs the service knows all of them, so they prove nothing."

    # Hash of the chain of rounds.
    chainHash: str
    # Key that signs the rounds.
    publicKey: str
    # Unix time of round 1, in seconds.
    genesisTime: int
    # Seconds between rounds.
    period: int
    groupHash: str
    beaconId: str
    # How far in the future a request's round is.
    marginSeconds: int
    # Whether presets wait for a round where neither call nor dapp says otherwise.
    isDefault: bool


class NetworkViewVrf(TypedDict):
    # Version of Chainlink VRF, of the coordinator and of the consumers of its words.
    version: Literal['v2', 'v2.5']
    # Whether random words are paid for in the network's own coin instead of LINK.
    nativePayment: bool
    # Registered key hashes; the first is the default.
    keyHashes: list[str]
    minConfirmations: int
    maxConfirmations: int
    # Maximum number of random numbers in one request.
    maxWords: int


class OracleNodeView(TypedDict):
    "One node of an oracle that several operators run."

    # URL at which the other nodes reach it, as its operator published it on chain.
    url: str
    # Key that signs its reports
    signer: str
    # Account that sends them
    transmitter: str
    # Whether it answered recently and counts itself among the coordinator's nodes.
    answers: bool
    # When the others last heard from it (ISO 8601): the median of their reports.
    lastSeen: NotRequired[str]
    # Share of the answers on chain that match what it had observed, 0 to 1: the median of the others' reports.
    agreementRate: NotRequired[float]
    # Transaction of the last report that it sent
    lastTransmission: NotRequired[str]
    # How many of the others hold evidence that it contradicted itself.
    accusers: int


# The result of a request.
Outcome: TypeAlias = "PresetResult | FunctionResult | RandomResult | ConsumerResult"


class PresetResult(TypedDict):
    "Outcome of a preset."

    # Whether the request was successful.
    success: bool
    # Identifier of the request here: the one of `/api/requests/{id}`.
    id: str
    # Network on which the request ran.
    network: str
    # Hash of the transaction that put the VRF proof on chain.
    vrfv2Hash: str
    # Explorer page of that transaction.
    vrfv2EventHash: str
    # Request identifier assigned by the oracle network, 32 bytes.
    requestId: str
    # The generated output, as the oracle network reported it; `0x` when it failed.
    result: str
    # The output decoded to text; empty when the function failed.
    parsedResult: str
    # The output for programs, typed by the preset: `GET /api/presets` has each preset's schema. A whole number in an array that JSON readers would round is a decimal string. `null` when the function failed, or when entries of a list can't be told apart.
    value: bool | str | list[int | str] | None
    # Error message, if any. `0x` means no error.
    err: str
    # Code of the failure; absent after a success.
    code: NotRequired[Literal['function_failed']]
    # Explorer page of the transaction that delivered the result.
    url: str
    # Public page with the result: `/r/{id}`.
    shareUrl: str
    # What the request is for, as it is on chain; absent without a label.
    label: NotRequired[str]
    # The round of drand that the request fixed; absent without one.
    beacon: NotRequired[BeaconView]


class PresetView(TypedDict):
    "A live preset as callers see it."

    # The value of `preset` parameters.
    name: str
    title: str
    description: str
    # JSON Schema (draft 2020-12) of the parameters: an object that refuses unknown members.
    parameters: dict[str, Any]
    # Names of the parameters in the order in which the source gets them as `args`.
    parameterOrder: list[str]
    # JavaScript that the oracle runs on the word, with what it imports.
    source: str
    returnType: ReturnType
    # JSON Schema (draft 2020-12) of `value` in a successful answer.
    value: dict[str, Any]
    examples: list[PresetViewExamples]


class PresetViewExamples(TypedDict):
    params: dict[str, Any]
    parsedResult: str


class RandomResult(TypedDict):
    "Outcome of a request for random numbers."

    # Whether the request was successful.
    success: bool
    # Identifier of the request here: the one of `/api/requests/{id}`.
    id: str
    # Network on which the request ran.
    network: str
    # Request identifier assigned by the oracle network, 32 bytes.
    requestId: str
    # Hash of the transaction that put the VRF proof on chain.
    transactionHash: str
    # Explorer page of that transaction.
    url: str
    # Public page with the result: `/r/{id}`.
    shareUrl: str
    # What the request is for, as it is on chain; absent without a label.
    label: NotRequired[str]
    # The random numbers, each a 256-bit unsigned integer in decimal.
    randomNumber: list[str]
    # The same numbers.
    value: list[str]


RequestKind: TypeAlias = "Literal['preset', 'function', 'random', 'consumer', 'unlink']"


class RequestLabel(TypedDict):
    "What a request is for, and which other requests say the same."

    # Id of the dapp, as the service's operator wrote it.
    dapp: str
    label: str
    # Place of this request among those in `draws`, from 1.
    draw: int
    # All requests of the dapp with the label that were found in the blocks of `searched`, and this one, oldest first.
    draws: list[RequestLabelDraws]
    searched: RequestLabelSearched


class RequestLabelDraws(TypedDict):
    # The request's transaction.
    transactionHash: str
    blockNumber: str


RequestLabelSearched = TypedDict(
    "RequestLabelSearched",
    {
        "from": "str",
        "to": "str",
        "codeFrom": "str | None",
        "omits": "bool",
        "isWhole": "bool",
        "provenFrom": "str | None",
    },
)


class RequestPage(TypedDict):
    "A page of requests."

    # Newest first.
    items: list[RequestView]
    # Give it as `cursor` for the next page; null on the last one.
    nextCursor: str | None


RequestState: TypeAlias = "Literal['checking', 'received', 'submitted', 'randomness', 'executing', 'fulfilled', 'failed']"


class RequestVerification(TypedDict):
    "The parts of one request."

    kind: Literal['preset', 'function', 'random']
    # Identifier on chain: of a preset, keccak256 of `vrfRequestId` and its place in the batch, 32 bytes each; of the function request; for random numbers of VRF.
    requestId: str
    vrfRequestId: str | None
    # `valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request that it follows from. `incomplete`: no check failed, but there is no result on chain (yet). `invalid`: a check failed.
    verdict: Verdict
    # The first step that failed.
    failed: StepName | None
    # The transactions that contain each part.
    transactions: RequestVerificationTransactions
    # Result that the report delivered, `0x` hex; null for random numbers and without a report.
    result: str | None
    # Error that the report delivered instead, `0x` hex of its text; `0x` means no error.
    err: str | None
    # Words that follow from the proof, in decimal: all for random numbers, a preset's own one.
    randomNumber: list[str]
    # The VRF keys whose words it takes, as the request named them, in its order; empty for functions, and where the node doesn't show the request.
    keyHashes: list[str]
    # Null for random numbers, and if the node doesn't show the source.
    sourceHash: str | None
    # The source that was run, in JavaScript; a preset's is minified. Null for random numbers, if the node doesn't show it, and if it is longer than the 30720 bytes that the oracle takes.
    source: str | None
    # Arguments of the source, as it gets them; null for random numbers, and if they are malformed.
    args: list[str] | None
    # The preset; null for functions and random numbers.
    preset: RequestVerificationPreset | None
    # The round of drand that the request fixed: the step `beacon` checks it. Null without one.
    beacon: ChainRound | None
    # Null if the node doesn't show the block.
    requestedAt: str | None
    # Null without one, or if the node doesn't show it.
    deliveredAt: str | None
    # Null without a result.
    deliveredBy: str | None
    # What the request is for; null without a label: it may be one of many.
    label: RequestLabel | None
    steps: list[VerificationStep]


class RequestVerificationPreset(TypedDict):
    # Id of the preset's source on chain.
    sourceId: int
    # Name of the verifier's own preset with this source; null if it knows none.
    name: str | None
    # Names of `args`, as that preset has them; empty without it.
    parameters: list[str]


class RequestVerificationTransactions(TypedDict):
    "The transactions that contain each part."

    request: str | None
    randomness: str | None
    report: str | None


class RequestView(TypedDict):
    "A request, as the API shows it."

    # Identifier of the request here (not the oracle network's).
    id: str
    # The dapp that made it; on chain with a label.
    dappId: str
    kind: RequestKind
    network: str
    params: dict[str, Any]
    # The label as its caller spelled it, if otherwise: capitals, for example. Only `label` is on chain: show this only if it reads as that.
    givenLabel: NotRequired[str]
    state: RequestState
    # What a pending request is waiting for.
    why: str | None
    # When the request was received.
    createdAt: str
    # When its state last changed.
    updatedAt: str
    # When the service deleted the payload, as its configuration says: `params` no longer contains it.
    payloadDeletedAt: NotRequired[str]
    # Schedule or log trigger that made the request, also one that is deleted since; `null` if a call made it.
    triggerId: str | None
    timeline: list[StateChange]
    # The result that the endpoint answers with, once there is one.
    outcome: PresetResult | FunctionResult | RandomResult | ConsumerResult | None
    # The preset's result as structured data, if the preset declares how to display it.
    shown: NotRequired[ShownResult]
    # Why the request ended without an outcome.
    error: RequestViewError | None
    # What the dry run of its source wrote and took, before anything was sent: of a function, and of a preset whose dry run failed.
    dryRun: NotRequired[RequestViewDryRun]
    # Address of this request.
    statusUrl: str
    # Public page with the result, once there is one; absent for the linking and unlinking of contracts.
    shareUrl: NotRequired[str]


class RequestViewDryRun(TypedDict):
    "What the dry run of its source wrote and took, before anything was sent: of a function, and of a preset whose dry run failed."

    # The first 1,000 characters that the source wrote.
    console: str
    # Duration of the run in milliseconds.
    timeMs: float
    # Heap in use at the end of the run, in bytes.
    memoryBytes: int
    # HTTP requests that the source made.
    httpRequests: int


class RequestViewError(TypedDict):
    code: str
    message: str


ReturnType: TypeAlias = "Literal['string', 'uint256', 'int256']"


class SecretView(TypedDict):
    "A secret as the API shows it, without its value."

    # Its name, by which a source reads it: `secrets.NAME`.
    name: str
    # Network whose functions may read it.
    network: str
    # Rises with each change.
    version: int
    # Length of what is encrypted, in bytes.
    size: int
    # When it was set.
    changedAt: str
    expiresAt: str | None
    # Hosts to which a source with it may send requests; empty: any; null: only the oracle knows.
    allowedHosts: list[str] | None
    # Whether the network's nodes have another key by now, so that none can read it: set it again.
    outdated: bool


# A preset's result, parsed for display as its `preset.json` specifies.
ShownResult: TypeAlias = "ShownResult1 | ShownResult2 | ShownResult3"


ShownResult1 = TypedDict(
    "ShownResult1",
    {
        "as": "Literal['coin']",
        "side": "str",
        "index": "Literal[0, 1]",
    },
)


ShownResult2 = TypedDict(
    "ShownResult2",
    {
        "as": "Literal['dice']",
        "rolls": "list[str]",
        "hasPips": "bool",
    },
)


ShownResult3 = TypedDict(
    "ShownResult3",
    {
        "as": "Literal['list']",
        "entries": "list[str]",
    },
)


class SimulateResult(TypedDict):
    "Outcome of a dry run. Nothing was sent to a chain."

    # Whether the request was successful.
    success: bool
    # The generated output, as the oracle network reported it; `0x` when it failed.
    result: str
    # The result decoded according to `returnType`; empty when the function failed.
    parsedResult: str
    # The decoded result; `null` when the function failed.
    value: str | None
    # The text that the oracle nodes would report. `0x` means no error.
    err: str
    # Code of the failure; absent after a success.
    code: NotRequired[Literal['function_failed']]
    # What the source wrote with `console`.
    console: str
    consoleTruncated: bool
    # Duration of the run in milliseconds.
    timeMs: float
    # Heap in use at the end of the run, in bytes.
    memoryBytes: int
    # HTTP requests that the source made.
    httpRequests: int
    # Line in the caller's source where it threw.
    line: NotRequired[int]
    # Column on that line.
    column: NotRequired[int]
    # The cause of `err`, if its text doesn't state it.
    details: NotRequired[list[SimulateResultDetails]]
    # What to know about the source although it ran: for example, that it uses time or randomness, which differ from node to node.
    warnings: NotRequired[list[str]]


class SimulateResultDetails(TypedDict):
    # JSON Pointer to the parameter.
    path: str
    # What is wrong, where, and what to do.
    message: str


class StateChange(TypedDict):
    "One change of a request's state, as the API shows it."

    seq: int
    state: RequestState
    # When the state was reached.
    at: str
    # Transaction that caused the state.
    transactionHash: NotRequired[str]
    # Explorer page of that transaction.
    url: NotRequired[str]
    detail: NotRequired[str]


StepName: TypeAlias = "Literal['transactions', 'contracts', 'key', 'proof', 'join', 'beacon', 'source', 'signers', 'signatures', 'delivery', 'execution']"


class UsageDay(TypedDict):
    "What a dapp used on one network and one day."

    # Day in UTC. A request counts on the day on which it was accepted.
    day: str
    # `null` for dry runs that name no network.
    network: str | None
    # Requests accepted, by kind.
    requests: UsageDayRequests
    # Of these, how many were fulfilled.
    fulfilled: int
    # Of these, how many failed. The rest are in progress.
    failed: int
    # Calls refused after their dry run; nothing was sent to a chain.
    refused: int
    # Dry runs requested.
    dryRuns: int
    # Random words delivered.
    words: int
    # Gas of the service's own transactions; requests that share a transaction share it equally. The oracle's gas is part of what is charged.
    gasUsed: str
    # LINK charged to the subscriptions for the requests that have ended, in juels (1e-18).
    linkJuels: str
    # Coin charged where words are paid for in coin instead, in wei.
    coinWei: str
    # LINK that the service topped up the subscriptions with, in juels, on the day it did so. Covers what the dapp's own contracts spend; counts against the dapp's daily budget.
    toppedUpJuels: str
    # Coin that the service topped up a subscription with, in wei.
    toppedUpWei: str


class UsageDayRequests(TypedDict):
    "Requests accepted, by kind."

    # Presets.
    preset: int
    # Functions.
    function: int
    # Requests for random numbers.
    random: int
    # Contracts linked.
    consumer: int
    # Contracts unlinked.
    unlink: int


# Usage of a dapp: a row for each day and network with any usage.
UsageReport = TypedDict(
    "UsageReport",
    {
        "from": "str",
        "to": "str",
        "items": "list[UsageDay]",
    },
)


# `valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request that it follows from. `incomplete`: no check failed, but there is no result on chain (yet). `invalid`: a check failed.
Verdict: TypeAlias = "Literal['invalid', 'incomplete', 'unconfirmed', 'conditional', 'valid']"


class Verification(TypedDict):
    "What a check of a transaction against chain data found."

    network: str
    chainId: int
    # The transaction that was checked.
    transactionHash: str
    # Whether every request's verdict is `valid`.
    valid: bool
    # `valid`: no check failed, the contracts are the operator's, and the source gives the delivered result again. `conditional`: the same, if the contracts named in the step `contracts` are the operator's, because no addresses were given. `unconfirmed`: no check failed, but the source could not give the delivered result again, for the reason in the step `execution`, or the node doesn't show the blocks, the proof, the signers or the request that it follows from. `incomplete`: no check failed, but there is no result on chain (yet). `invalid`: a check failed.
    verdict: Verdict
    requests: list[RequestVerification]
    # The oracle's contracts that the checks relied on.
    contracts: dict[str, str]
    # What these checks can't show: whose word it remains.
    trust: list[str]


class VerificationStep(TypedDict):
    "One check."

    name: StepName
    # `notApplicable`: can't be checked, for the reason in `detail`. In all steps but `key`, `join`, `source` and `signers`, it decides the verdict.
    outcome: Literal['ok', 'failed', 'notApplicable']
    # One sentence: what holds, what doesn't, or why it can't be checked.
    detail: str
    compared: list[Comparison]


class InvalidParameterError(ApiError):
    """`invalid_parameter`"""


class MalformedJsonError(ApiError):
    """`malformed_json`"""


class MalformedHttpError(ApiError):
    """`malformed_http`"""


class UnauthenticatedError(ApiError):
    """`unauthenticated`"""


class KeyExpiredError(ApiError):
    """`key_expired`"""


class ForbiddenError(ApiError):
    """`forbidden`"""


class OriginNotAllowedError(ApiError):
    """`origin_not_allowed`"""


class NotFoundError(ApiError):
    """`not_found`"""


class MethodNotAllowedError(ApiError):
    """`method_not_allowed`"""


class RequestTimeoutError(ApiError):
    """`request_timeout`"""


class IdempotencyConflictError(ApiError):
    """`idempotency_conflict`"""


class NameTakenError(ApiError):
    """`name_taken`"""


class LabelTakenError(ApiError):
    """`label_taken`"""


class TooManyConsumersError(ApiError):
    """`too_many_consumers`"""


class BodyTooLargeError(ApiError):
    """`body_too_large`"""


class UnsupportedMediaTypeError(ApiError):
    """`unsupported_media_type`"""


class SecretsUnreadableError(ApiError):
    """`secrets_unreadable`"""


class RateLimitedError(ApiError):
    """`rate_limited`"""


class HostNotAllowedError(ApiError):
    """`host_not_allowed`"""


class HeadersTooLargeError(ApiError):
    """`headers_too_large`"""


class InternalError(ApiError):
    """`internal`"""


class ChainUnavailableError(ApiError):
    """`chain_unavailable`"""


class RequestFailedError(ApiError):
    """`request_failed`"""


class OracleTimeoutError(ApiError):
    """`oracle_timeout`"""


class WordWithheldError(ApiError):
    """`word_withheld`"""


class BeaconLateError(ApiError):
    """`beacon_late`"""


class BeaconMissedError(ApiError):
    """`beacon_missed`"""


class OverloadedError(ApiError):
    """`overloaded`"""


class StillPendingError(ApiError):
    """`still_pending`"""


ERROR_CLASSES: dict[str, type[ApiError]] = {
    "invalid_parameter": InvalidParameterError,
    "malformed_json": MalformedJsonError,
    "malformed_http": MalformedHttpError,
    "unauthenticated": UnauthenticatedError,
    "key_expired": KeyExpiredError,
    "forbidden": ForbiddenError,
    "origin_not_allowed": OriginNotAllowedError,
    "not_found": NotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "request_timeout": RequestTimeoutError,
    "idempotency_conflict": IdempotencyConflictError,
    "name_taken": NameTakenError,
    "label_taken": LabelTakenError,
    "too_many_consumers": TooManyConsumersError,
    "body_too_large": BodyTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "secrets_unreadable": SecretsUnreadableError,
    "function_failed": FunctionFailedError,
    "rate_limited": RateLimitedError,
    "host_not_allowed": HostNotAllowedError,
    "headers_too_large": HeadersTooLargeError,
    "internal": InternalError,
    "chain_unavailable": ChainUnavailableError,
    "request_failed": RequestFailedError,
    "oracle_timeout": OracleTimeoutError,
    "word_withheld": WordWithheldError,
    "beacon_late": BeaconLateError,
    "beacon_missed": BeaconMissedError,
    "overloaded": OverloadedError,
    "still_pending": StillPendingError,
}
