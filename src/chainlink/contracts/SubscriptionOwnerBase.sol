// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {ConfirmedOwner} from "@chainlink/contracts/src/v0.8/shared/access/ConfirmedOwner.sol";
import {LinkTokenInterface} from "@chainlink/contracts/src/v0.8/shared/interfaces/LinkTokenInterface.sol";
import {Strings} from "@chainlink/contracts/src/v0.8/vendor/openzeppelin-solidity/v4.8.3/contracts/utils/Strings.sol";
import {ECDSA} from "@chainlink/contracts/src/v0.8/vendor/openzeppelin-solidity/v4.8.3/contracts/utils/cryptography/ECDSA.sol";

/// Subscriptions of FunctionsRouter, and of VRFCoordinatorV2, so far as an owner of subscriptions needs them.
interface ISubscriptions {
  function createSubscription() external returns (uint64);
  function addConsumer(uint64 subscriptionId, address consumer) external;
  function removeConsumer(uint64 subscriptionId, address consumer) external;
  function cancelSubscription(uint64 subscriptionId, address to) external;
}

/**
 * Owns the two subscriptions of every dapp, one for random words and one for functions, so that each dapp spends
 * only its own LINK. The contract's owner (the operator) alone may change anything, except that an account decides
 * whether it is a signer of secrets. LINK to fund from lies in this contract: send it here first.
 *
 * What differs between the versions of VRF is left to SubscriptionOwner and SubscriptionOwnerV2Plus.
 */
abstract contract SubscriptionOwnerBase is ConfirmedOwner {
  /// A dapp's subscriptions; zeros mean that the dapp has none.
  struct Subscriptions {
    uint256 vrfSubId;
    uint64 functionsSubId;
  }

  /// An account's consent that requests which a subscription pays for may name its secrets; all zero: there is none.
  struct SecretsConsent {
    address signer;
    /// Which of the account's consents for the subscription it is, from 0.
    uint96 number;
    /// The account's, so that whoever reads this doesn't have to trust the contract.
    bytes signature;
  }

  /// The dapp's subscriptions exist and the consumer may use them; `created` is false if they had existed before.
  event Provisioned(bytes32 indexed dapp, uint256 indexed vrfSubId, uint64 indexed functionsSubId, bool created);

  /// The dapp's subscriptions are cancelled; what was left of their LINK went to `to`.
  event Closed(bytes32 indexed dapp, uint256 indexed vrfSubId, uint64 indexed functionsSubId, address to);

  /// `signer` alone may upload secrets for requests that the subscription pays for; zero: nobody.
  event SecretsSignerSet(uint64 indexed functionsSubId, address indexed signer);

  /// The dapp was never provisioned, or is closed.
  error UnknownDapp(bytes32 dapp);

  /// The signature is not the account's of this personal message (EIP-191).
  error NoConsent(string message);

  address public immutable VRF_COORDINATOR;
  ISubscriptions public immutable FUNCTIONS_ROUTER;
  LinkTokenInterface public immutable LINK;

  mapping(bytes32 dapp => Subscriptions) public subscriptionsOf;

  /// Whose secrets a request may name that a subscription of functions pays for.
  mapping(uint64 functionsSubId => SecretsConsent) public secretsConsentOf;

  /// The number that an account's next consent for a subscription must have.
  mapping(uint64 functionsSubId => mapping(address signer => uint96)) public nextConsentOf;

  /// Of how many subscriptions an account is the signer of secrets.
  mapping(address signer => uint256) public signedFor;

  constructor(
    address owner_,
    address vrfCoordinator,
    address functionsRouter,
    address link
  ) ConfirmedOwner(owner_) {
    VRF_COORDINATOR = vrfCoordinator;
    FUNCTIONS_ROUTER = ISubscriptions(functionsRouter);
    LINK = LinkTokenInterface(link);
  }

  /**
   * Makes the dapp's two subscriptions, funds them and adds the consumer to both. For a dapp that has them,
   * nothing changes, no LINK moves, and the event gives the same ids.
   *
   * @param dapp the service's id of the dapp
   * @param vrfJuels LINK for random words, in units of 1e-18 LINK
   * @param functionsJuels LINK for functions, in units of 1e-18 LINK
   * @param consumer contract that may use the subscriptions from the start
   */
  function provision(
    bytes32 dapp,
    uint96 vrfJuels,
    uint96 functionsJuels,
    address consumer
  ) external onlyOwner returns (uint256 vrfSubId, uint64 functionsSubId) {
    Subscriptions storage subscriptions = subscriptionsOf[dapp];
    (vrfSubId, functionsSubId) = (subscriptions.vrfSubId, subscriptions.functionsSubId);
    bool created = vrfSubId == 0;
    if (created) {
      vrfSubId = _createVrfSubscription();
      functionsSubId = FUNCTIONS_ROUTER.createSubscription();
      (subscriptions.vrfSubId, subscriptions.functionsSubId) = (vrfSubId, functionsSubId);
      _fund(vrfSubId, vrfJuels, functionsSubId, functionsJuels);
      _addConsumer(vrfSubId, functionsSubId, consumer);
    }
    emit Provisioned(dapp, vrfSubId, functionsSubId, created);
  }

  /**
   * Lets an account, instead of the one before it, upload secrets for requests that a subscription pays for.
   *
   * @param signer the account, or zero: nobody
   * @param signature the account's, of the message in NoConsent; each counts once
   */
  function setSecretsSigner(uint64 functionsSubId, address signer, bytes calldata signature) external onlyOwner {
    if (signer == address(0)) return _removeSecretsSigner(functionsSubId);
    uint96 number = nextConsentOf[functionsSubId][signer]++;
    string memory message = string.concat(
      "Requests of Functions subscription ",
      Strings.toString(functionsSubId),
      " may read all secrets that I, ",
      Strings.toHexString(signer),
      ", upload (SubscriptionOwner ",
      Strings.toHexString(address(this)),
      ", chain ",
      Strings.toString(block.chainid),
      ", consent ",
      Strings.toString(number),
      ")"
    );
    (address recovered, ) = ECDSA.tryRecover(ECDSA.toEthSignedMessageHash(bytes(message)), signature);
    if (recovered != signer) revert NoConsent(message);
    _removeSecretsSigner(functionsSubId);
    signedFor[signer] += 1;
    secretsConsentOf[functionsSubId] = SecretsConsent(signer, number, signature);
    emit SecretsSignerSet(functionsSubId, signer);
  }

  /// Withdraws the caller's consent for a subscription, whether it is in use or only signed.
  function withdrawSecretsConsent(uint64 functionsSubId) external {
    nextConsentOf[functionsSubId][msg.sender] += 1;
    if (secretsConsentOf[functionsSubId].signer == msg.sender) _removeSecretsSigner(functionsSubId);
  }

  function _removeSecretsSigner(uint64 functionsSubId) private {
    address signer = secretsConsentOf[functionsSubId].signer;
    if (signer == address(0)) return;
    signedFor[signer] -= 1;
    delete secretsConsentOf[functionsSubId];
    emit SecretsSignerSet(functionsSubId, address(0));
  }

  /// Moves LINK from this contract to a pair of subscriptions. A zero amount skips that one.
  function _fund(uint256 vrfSubId, uint96 vrfJuels, uint64 functionsSubId, uint96 functionsJuels) internal {
    if (vrfJuels != 0) LINK.transferAndCall(VRF_COORDINATOR, vrfJuels, abi.encode(vrfSubId));
    if (functionsJuels != 0) LINK.transferAndCall(address(FUNCTIONS_ROUTER), functionsJuels, abi.encode(functionsSubId));
  }

  /// Lets a contract use both subscriptions. Adding one that may already changes nothing, unless the list is full.
  function _addConsumer(uint256 vrfSubId, uint64 functionsSubId, address consumer) internal {
    _addVrfConsumer(vrfSubId, consumer);
    FUNCTIONS_ROUTER.addConsumer(functionsSubId, consumer);
  }

  // What the coordinator of one version is told.

  function _createVrfSubscription() internal virtual returns (uint256 vrfSubId);
  function _addVrfConsumer(uint256 vrfSubId, address consumer) internal virtual;
  function _cancelVrfSubscription(uint256 vrfSubId, address to) internal virtual;

  /// Cancels the dapp's subscriptions and sends what is left of their LINK to `to`.
  function close(bytes32 dapp, address to) external onlyOwner {
    Subscriptions memory subscriptions = subscriptionsOf[dapp];
    if (subscriptions.vrfSubId == 0) revert UnknownDapp(dapp);
    delete subscriptionsOf[dapp];
    _removeSecretsSigner(subscriptions.functionsSubId);
    _cancelVrfSubscription(subscriptions.vrfSubId, to);
    FUNCTIONS_ROUTER.cancelSubscription(subscriptions.functionsSubId, to);
    emit Closed(dapp, subscriptions.vrfSubId, subscriptions.functionsSubId, to);
  }

  /// Sends LINK that lies in this contract, and in no subscription, to `to`.
  function withdraw(address to, uint256 juels) external onlyOwner {
    LINK.transfer(to, juels);
  }
}
