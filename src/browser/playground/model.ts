/** What the server puts into the page for the playground. */
export interface Model {
  readonly dapps: readonly {
    readonly id: string;
    readonly name: string;
    /** A live API key's id; `null` where all are revoked. */
    readonly keyId: string | null;
  }[];
  readonly networks: readonly {
    readonly name: string;
    readonly title: string;
    readonly maxSourceBytes: number;
    readonly maxResponseBytes: number;
  }[];
  /** Of this session's forms. */
  readonly token: string;
}
