import type { Hex } from "viem";

// Plain data, fit for JSON.

/** An address with the name it is known by, if any. Checksummed (EIP-55). */
export interface Party {
  readonly address: Hex;
  readonly name?: string;
}

/** A decoded argument or event field; arrays and structs hold more of them. */
export interface DecodedValue {
  /** Empty if the declaration gives none. */
  readonly name: string;
  /** Solidity type. */
  readonly type: string;
  readonly value: string | readonly DecodedValue[];
}

/** A transaction's calldata, decoded with the interface of the called contract. */
export interface DecodedCall {
  readonly function: string;
  readonly arguments: readonly DecodedValue[];
}
