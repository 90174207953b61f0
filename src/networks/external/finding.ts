/** The result of one check. */
export interface NetworkFinding {
  readonly isOk: boolean;
  readonly text: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** Reports the result of one check, with a remedy in case it failed. */
export type Tell = (isOk: boolean, text: string, remedy?: string) => void;
