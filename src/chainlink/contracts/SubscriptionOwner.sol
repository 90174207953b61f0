// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {ConfirmedOwner} from "@chainlink/contracts/src/v0.8/shared/access/ConfirmedOwner.sol";
import {LinkTokenInterface} from "@chainlink/contracts/src/v0.8/shared/interfaces/LinkTokenInterface.sol";

/// What VRFCoordinatorV2 and FunctionsRouter have in common, so far as an owner of subscriptions needs it.
interface ISubscriptions {
  function createSubscription() external returns (uint64);
  function addConsumer(uint64 subscriptionId, address consumer) external;
  function removeConsumer(uint64 subscriptionId, address consumer) external;
  function cancelSubscription(uint64 subscriptionId, address to) external;
}

/**
 * Owns the two subscriptions of every dapp, one for random words and one for functions, so that each dapp spends
 * only its own LINK. The contract's owner (the operator) alone may change anything. LINK to fund from lies in
 * this contract: send it here first.
 */
contract SubscriptionOwner is ConfirmedOwner {
  /// A dapp's subscriptions; ids count from 1, so zeros mean that the dapp has none.
  struct Subscriptions {
    uint64 vrfSubId;
    uint64 functionsSubId;
  }

  /// The dapp's subscriptions exist and the consumer may use them; `created` is false if they had existed before.
  event Provisioned(bytes32 indexed dapp, uint64 indexed vrfSubId, uint64 indexed functionsSubId, bool created);

  /// The dapp's subscriptions are cancelled; what was left of their LINK went to `to`.
  event Closed(bytes32 indexed dapp, uint64 indexed vrfSubId, uint64 indexed functionsSubId, address to);

  /// The dapp was never provisioned, or is closed.
  error UnknownDapp(bytes32 dapp);

  ISubscriptions public immutable VRF_COORDINATOR;
  ISubscriptions public immutable FUNCTIONS_ROUTER;
  LinkTokenInterface public immutable LINK;

  mapping(bytes32 dapp => Subscriptions) public subscriptionsOf;

  constructor(
    address owner_,
    address vrfCoordinator,
    address functionsRouter,
    address link
  ) ConfirmedOwner(owner_) {
    VRF_COORDINATOR = ISubscriptions(vrfCoordinator);
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
  ) external onlyOwner returns (uint64 vrfSubId, uint64 functionsSubId) {
    Subscriptions storage subscriptions = subscriptionsOf[dapp];
    (vrfSubId, functionsSubId) = (subscriptions.vrfSubId, subscriptions.functionsSubId);
    bool created = vrfSubId == 0;
    if (created) {
      vrfSubId = VRF_COORDINATOR.createSubscription();
      functionsSubId = FUNCTIONS_ROUTER.createSubscription();
      (subscriptions.vrfSubId, subscriptions.functionsSubId) = (vrfSubId, functionsSubId);
      fund(vrfSubId, vrfJuels, functionsSubId, functionsJuels);
      addConsumer(vrfSubId, functionsSubId, consumer);
    }
    emit Provisioned(dapp, vrfSubId, functionsSubId, created);
  }

  /// Moves LINK from this contract to a pair of subscriptions. A zero amount skips that one.
  function fund(uint64 vrfSubId, uint96 vrfJuels, uint64 functionsSubId, uint96 functionsJuels) public onlyOwner {
    if (vrfJuels != 0) LINK.transferAndCall(address(VRF_COORDINATOR), vrfJuels, abi.encode(vrfSubId));
    if (functionsJuels != 0) LINK.transferAndCall(address(FUNCTIONS_ROUTER), functionsJuels, abi.encode(functionsSubId));
  }

  /// Lets a contract use both subscriptions. Adding one that may already changes nothing, unless the list is full.
  function addConsumer(uint64 vrfSubId, uint64 functionsSubId, address consumer) public onlyOwner {
    VRF_COORDINATOR.addConsumer(vrfSubId, consumer);
    FUNCTIONS_ROUTER.addConsumer(functionsSubId, consumer);
  }

  /// Takes a contract off both subscriptions; refused by the oracle contracts while requests are pending.
  function removeConsumer(uint64 vrfSubId, uint64 functionsSubId, address consumer) external onlyOwner {
    VRF_COORDINATOR.removeConsumer(vrfSubId, consumer);
    FUNCTIONS_ROUTER.removeConsumer(functionsSubId, consumer);
  }

  /// Cancels the dapp's subscriptions and sends what is left of their LINK to `to`.
  function close(bytes32 dapp, address to) external onlyOwner {
    Subscriptions memory subscriptions = subscriptionsOf[dapp];
    if (subscriptions.vrfSubId == 0) revert UnknownDapp(dapp);
    delete subscriptionsOf[dapp];
    VRF_COORDINATOR.cancelSubscription(subscriptions.vrfSubId, to);
    FUNCTIONS_ROUTER.cancelSubscription(subscriptions.functionsSubId, to);
    emit Closed(dapp, subscriptions.vrfSubId, subscriptions.functionsSubId, to);
  }

  /// Sends LINK that lies in this contract, and in no subscription, to `to`.
  function withdraw(address to, uint256 juels) external onlyOwner {
    LINK.transfer(to, juels);
  }
}
