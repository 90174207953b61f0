/** What the playground works with. */
export interface Model {
  /** Dapps that may run functions; at least one. */
  readonly dapps: readonly { readonly id: string; readonly name: string }[];
  readonly networks: readonly {
    readonly name: string;
    readonly title: string;
    readonly embedded: boolean;
    readonly functions: { readonly maxSourceBytes: number; readonly maxResponseBytes: number };
  }[];
}
