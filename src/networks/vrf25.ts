import type { Hex } from "viem";

/** Chainlink's live VRF v2.5 on one chain. */
export interface Vrf25Network {
  readonly coordinator: Hex;
  readonly link: Hex;
  /** Of the lane with the highest gas price, 32 bytes: its node fulfils requests even when gas is expensive. */
  readonly keyHash: Hex;
  /** Fewest confirmations of a request. */
  readonly minConfirmations: number;
}

/**
 * Chainlink's VRF v2.5, by chain id. The same address may be a different coordinator on another chain (Base Sepolia, Fuji).
 * Source: Chainlink's documentation, "Supported Networks" of VRF v2.5, as of August 2026.
 */
export const VRF25_NETWORKS: Readonly<Record<number, Vrf25Network>> = {
  // Arbitrum Mainnet
  42_161: {
    coordinator: "0x3C0Ca683b403E37668AE3DC4FB62F4B29B6f7a3e",
    link: "0xf97f4df75117a78c1A5a0DBb814Af92458539FB4",
    keyHash: "0xe9f223d7d83ec85c4f78042a4845af3a1c8df7757b4997b815ce4b8d07aca68c",
    minConfirmations: 1,
  },
  // Arbitrum Sepolia Testnet
  421_614: {
    coordinator: "0x5CE8D5A2BC84beb22a398CCA51996F7930313D61",
    link: "0xb1D4538B4571d411F07960EF2838Ce337FE1E80E",
    keyHash: "0x1770bdc7eec7771f7ba4ffd640f34260d7f095b79c92d34a5b2551d6f6cfd2be",
    minConfirmations: 1,
  },
  // Avalanche Mainnet
  43_114: {
    coordinator: "0xE40895D055bccd2053dD0638C9695E326152b1A4",
    link: "0x5947BB275c521040051D82396192181b413227A3",
    keyHash: "0xe227ebd10a873dde8e58841197a07b410038e405f1180bd117be6f6557fa491c",
    minConfirmations: 0,
  },
  // Avalanche Fuji Testnet
  43_113: {
    coordinator: "0x5C210eF41CD1a72de73bF76eC39637bB0d3d7BEE",
    link: "0x0b9d5D9136855f6FEc3c0993feE6E9CE8a297846",
    keyHash: "0xc799bd1e3bd4d1a41cd4968997a4e03dfd2a3c7c04b695881138580163f42887",
    minConfirmations: 1,
  },
  // BASE Mainnet
  8453: {
    coordinator: "0xd5D517aBE5cF79B7e95eC98dB0f0277788aFF634",
    link: "0x88Fb150BDc53A65fe94Dea0c9BA0a6dAf8C6e196",
    keyHash: "0xdc2f87677b01473c763cb0aee938ed3341512f6057324a584e5944e786144d70",
    minConfirmations: 0,
  },
  // BASE Sepolia Testnet
  84_532: {
    coordinator: "0x5C210eF41CD1a72de73bF76eC39637bB0d3d7BEE",
    link: "0xE4aB69C077896252FAFBD49EFD26B5D171A32410",
    keyHash: "0x9e1344a1247c8a1785d0a4681a27152bffdb43666ae5bf7d14d24a5efd44bf71",
    minConfirmations: 0,
  },
  // BNB Chain Mainnet
  56: {
    coordinator: "0xd691f04bc0C9a24Edb78af9E005Cf85768F694C9",
    link: "0x404460C6A5EdE2D891e8297795264fDe62ADBB75",
    keyHash: "0xb94a4fdb12830e15846df59b27d7c5d92c9c24c10cf6ae49655681ba560848dd",
    minConfirmations: 3,
  },
  // BNB Chain Testnet
  97: {
    coordinator: "0xDA3b641D438362C440Ac5458c57e00a712b66700",
    link: "0x84b9B910527Ad5C03A9Ca831909E21e236EA7b06",
    keyHash: "0x8596b430971ac45bdf6088665b9ad8e8630c9d5049ab54b14dff711bee7c0e26",
    minConfirmations: 3,
  },
  // Ethereum Mainnet
  1: {
    coordinator: "0xD7f86b4b8Cae7D942340FF628F82735b7a20893a",
    link: "0x514910771AF9Ca656af840dff83E8264EcF986CA",
    keyHash: "0xc6bf2e7b88e5cfbb4946ff23af846494ae1f3c65270b79ee7876c9aa99d3d45f",
    minConfirmations: 3,
  },
  // Ethereum Sepolia Testnet
  11_155_111: {
    coordinator: "0x9DdfaCa8183c41ad55329BdeeD9F6A8d53168B1B",
    link: "0x779877A7B0D9E8603169DdbD7836e478b4624789",
    keyHash: "0x787d74caea10b2b357790d5b5247c2f63d1d91572a9846f780606e4d953677ae",
    minConfirmations: 3,
  },
  // OP Mainnet
  10: {
    coordinator: "0x5FE58960F730153eb5A84a47C51BD4E58302E1c8",
    link: "0x350a791Bfc2C21F9Ed5d10980Dad2e2638ffa7f6",
    keyHash: "0x8e7a847ba0757d1c302a3f0fde7b868ef8cf4acc32e48505f1a1d53693a10a19",
    minConfirmations: 0,
  },
  // OP Sepolia Testnet
  11_155_420: {
    coordinator: "0x02667f44a6a44E4BDddCF80e724512Ad3426B17d",
    link: "0xE4aB69C077896252FAFBD49EFD26B5D171A32410",
    keyHash: "0xc3d5bc4d5600fa71f7a50b9ad841f14f24f9ca4236fd00bdb5fda56b052b28a4",
    minConfirmations: 0,
  },
  // Polygon Mainnet
  137: {
    coordinator: "0xec0Ed46f36576541C75739E915ADbCb3DE24bD77",
    link: "0xb0897686c545045aFc77CF20eC7A532E3120E0F1",
    keyHash: "0x192234a5cda4cc07c0b66dfbcfbb785341cc790edc50032e842667dbb506cada",
    minConfirmations: 3,
  },
  // Polygon Amoy Testnet
  80_002: {
    coordinator: "0x343300b5d84D444B2ADc9116FEF1bED02BE49Cf2",
    link: "0x0Fd9e8d3aF1aaee056EB9e802c3A762a667b1904",
    keyHash: "0x816bedba8a50b294e5cbd47842baf240c2385f2eaf719edbd4f250a137a8c899",
    minConfirmations: 3,
  },
  // Ronin Mainnet
  2020: {
    coordinator: "0xa18FD3db9B869AD2A8c55267e0D54dbf6ECEbEda",
    link: "0x3902228D6A3d2Dc44731fD9d45FeE6a61c722D0b",
    keyHash: "0xdb64d2a17ee501f6c6a8c090e058dfa39ea79d5fd121185bb903f5a69b8038a3",
    minConfirmations: 3,
  },
  // Ronin Saigon Testnet
  202_601: {
    coordinator: "0xc052324E6A27D0E4b2CbF0FdFFBCb3796ea8f8B8",
    link: "0x5bB50A6888ee6a67E22afFDFD9513be7740F1c15",
    keyHash: "0x0a79a60cc054d8da06a5050a1d07f0fec08088ca64192cf67477f8cc3e549f71",
    minConfirmations: 3,
  },
  // Soneium Mainnet
  1868: {
    coordinator: "0xb89BB0aB64b219Ba7702f862020d879786a2BC49",
    link: "0x32D8F819C8080ae44375F8d383Ffd39FC642f3Ec",
    keyHash: "0x7611210a5ac0abd39b581bd4ce1108aa0b9e63994daa32cc7302d98ed47747c1",
    minConfirmations: 0,
  },
  // Soneium Minato Testnet
  1946: {
    coordinator: "0x3Fa01AB73beB4EA09e78FC0849FCe31d0b035b47",
    link: "0x7ea13478Ea3961A0e8b538cb05a9DF0477c79Cd2",
    keyHash: "0x0c970a50393bea0011d5cec18c15c80c6deb37888b9ff579f476b3e52f6d3922",
    minConfirmations: 0,
  },
};
