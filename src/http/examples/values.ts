// Values that several examples share, so that the same request, transaction or contract is the same everywhere.

export const FLIP_ID = "req_01m87yrj7rcwsvqtppmsxt029x";
export const WORDS_ID = "req_01m87yrptxcpq21fmjjtggmams";
export const FLIP_REQUEST_TX = "0x3b4968f5340ed455ddf2bc57dcad779c5e6d938766fa0764029431e087e97b1f";
export const FLIP_PROOF_TX = "0x36054d4fe3d40d5024b9e347cdca2cbdbcf64dc1210583c86b7df0284491ba8b";
export const FLIP_REPORT_TX = "0x8959ee6ee273f0addd03742deaf5c821a058273600745df74bb1404a0af35c24";
export const WORDS_REQUEST_TX = "0x15bac668593edf64c0b7a086c644a1bc1846e66429a4e0681b4ab576ef28f301";
export const WORDS_PROOF_TX = "0xe3a0b23abdf0dd03ab341bebc58577fbacb1d6c42dd60a1335598e718505271d";
export const WORDS_REQUEST_ID = "0x6be56cb1cf359c741c56f125bf09ed557c6ecd165d27fba2612f963a74e3e54a";
export const LINK_TX = "0x05dbd0920a82e274299d8a4beaf9d3609e7e9b70e8567918a3d6e517f555cfc5";
export const KEY_HASH = "0x7f5c821f3dd1409b27fbbe6a97cfdafcfe7942544f74d4b8da091f2a02153c3f";
export const DAPP_ID = "dapp_01m87yjzs2fja42r2nsprn6k1q";
export const PROOF_BLOCK_HASH = "0x4aff0408731c5405a11b8817af46a11d792ea7d56978c8051ec43554927c77dc";
export const REQUEST_BLOCK_HASH = "0x19c7f9677b500f182106de9dee104bc74a99289f28aec1c90e5361663d4ab12d";
export const LINK_TOKEN = "0x3328f768d87c990B1627d3cF20d9096aA30EA9b5";
export const VRF_COORDINATOR = "0x9bD53617968c7c436ae0B4024817bF39Fd2D169A";
export const FUNCTIONS_ROUTER = "0xF3259A34F4858EfC779cFc6eD2fFbAAE839bA696";
export const PRESET_CONSUMER = "0x11AeCdA44C2b3322ca1D2312f919440b725dBC7b";
export const BATCH_VRF_COORDINATOR = "0x1fa69a310E141882e50c1a0F67f43B1083BF68Bd";
export const VRF_NODE = "0xfAE2aed28264725000Acb56e47e9e4835570a6cb";
export const GAME_CONTRACT = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
/** Random numbers drawn by the request `WORDS_ID`. */
export const WORDS = [
  "55163432718729832308530308504865693250522140849191748734222953330559292767739",
  "85323393534468815154792837390092681720714906741895922763106858459920193605321",
  "82877720560028367463682268139122750552939111261358192478728446101147054070791",
];

export const EXPLORER_URL = "http://127.0.0.1:3000/explorer/sepolia";

/** Returns the explorer page of a transaction. */
export function transactionUrl(hash: string): string {
  return `${EXPLORER_URL}/tx/${hash}`;
}

/** Returns the address of a request. */
export function shareUrl(id: string): string {
  return `http://127.0.0.1:3000/r/${id}`;
}

export function requestUrl(id: string): string {
  return `http://127.0.0.1:3000/api/requests/${id}`;
}
