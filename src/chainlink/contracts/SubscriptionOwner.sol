// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {ISubscriptions, SubscriptionOwnerBase} from "./SubscriptionOwnerBase.sol";

/// Owns subscriptions of VRFCoordinatorV2, whose ids are `uint64` and count from 1.
contract SubscriptionOwner is SubscriptionOwnerBase {
  constructor(
    address owner_,
    address vrfCoordinator,
    address functionsRouter,
    address link
  ) SubscriptionOwnerBase(owner_, vrfCoordinator, functionsRouter, link) {}

  /// Moves LINK from this contract to a pair of subscriptions. A zero amount skips that one.
  function fund(
    uint64 vrfSubId,
    uint96 vrfJuels,
    uint64 functionsSubId,
    uint96 functionsJuels
  ) external onlyOwner {
    _fund(vrfSubId, vrfJuels, functionsSubId, functionsJuels);
  }

  /// Lets a contract use both subscriptions. Adding one that may already changes nothing, unless the list is full.
  function addConsumer(uint64 vrfSubId, uint64 functionsSubId, address consumer) external onlyOwner {
    _addConsumer(vrfSubId, functionsSubId, consumer);
  }

  /// Takes a contract off both subscriptions; a zero id skips that one. Refused by the oracle contracts while requests are pending.
  function removeConsumer(uint64 vrfSubId, uint64 functionsSubId, address consumer) external onlyOwner {
    if (vrfSubId != 0) _vrf().removeConsumer(vrfSubId, consumer);
    if (functionsSubId != 0) FUNCTIONS_ROUTER.removeConsumer(functionsSubId, consumer);
  }

  function _createVrfSubscription() internal override returns (uint256) {
    return _vrf().createSubscription();
  }

  function _addVrfConsumer(uint256 vrfSubId, address consumer) internal override {
    _vrf().addConsumer(uint64(vrfSubId), consumer);
  }

  function _cancelVrfSubscription(uint256 vrfSubId, address to) internal override {
    _vrf().cancelSubscription(uint64(vrfSubId), to);
  }

  function _vrf() private view returns (ISubscriptions) {
    return ISubscriptions(VRF_COORDINATOR);
  }
}
