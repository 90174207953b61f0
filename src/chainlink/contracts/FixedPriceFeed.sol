// SPDX-License-Identifier: MIT
pragma solidity ^0.8.19;

import {AggregatorV3Interface} from "@chainlink/contracts/src/v0.8/shared/interfaces/AggregatorV3Interface.sol";

/**
 * A price that never changes and is never stale, for chains that have no market: the oracle contracts ask such a
 * feed for LINK's price in the native coin (18 decimals) and in US dollars (8 decimals).
 */
contract FixedPriceFeed is AggregatorV3Interface {
  uint256 public constant version = 1;
  uint8 public immutable decimals;
  int256 private immutable ANSWER;

  constructor(int256 answer, uint8 decimals_) {
    ANSWER = answer;
    decimals = decimals_;
  }

  function description() external pure returns (string memory) {
    return "fixed price of LINK";
  }

  /// Every round is the same, as of now.
  function getRoundData(uint80 roundId) public view returns (uint80, int256, uint256, uint256, uint80) {
    return (roundId, ANSWER, block.timestamp, block.timestamp, roundId);
  }

  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
    return getRoundData(1);
  }
}
