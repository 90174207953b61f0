/** VRFCoordinatorV2.MAX_NUM_WORDS. */
export const MAX_RANDOM_WORDS = 500;
/** VRFCoordinatorV2.MAX_REQUEST_CONFIRMATIONS. */
export const MAX_CONFIRMATIONS = 200;
/** VRFCoordinatorV2.MAX_CONSUMERS, and the router's configured limit: maximum number of contracts on one subscription. */
export const MAX_CONSUMERS = 100;
/** Maximum gas that a VRF callback may ask for, on all networks. */
export const MAX_VRF_CALLBACK_GAS = 2_500_000;
