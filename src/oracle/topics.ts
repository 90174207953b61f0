import { toEventSelector } from "viem";
import { CONFIG_SET_TOPIC } from "../chainlink/nodeConfig.ts";

/** First topics of events that only the oracle reads. VRFCoordinatorV2 and FunctionsRouter declare the same SubscriptionFunded. */
export const ORACLE_TOPICS = {
  SubscriptionFunded: toEventSelector("SubscriptionFunded(uint64,uint256,uint256)"),
  /** VRFCoordinatorV2_5: a subscription was funded, with LINK here and with coin below. */
  SubscriptionFundedV2Plus: toEventSelector("SubscriptionFunded(uint256,uint256,uint256)"),
  SubscriptionFundedWithNative: toEventSelector("SubscriptionFundedWithNative(uint256,uint256,uint256)"),
  /** OCR2Base of FunctionsCoordinator: the set of nodes changed. */
  ConfigSet: CONFIG_SET_TOPIC,
  /** FunctionsCoordinator: a request timed out; its data is the request id. */
  CommitmentDeleted: toEventSelector("CommitmentDeleted(bytes32)"),
} as const;
