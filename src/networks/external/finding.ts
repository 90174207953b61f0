/** One thing that was looked at. */
export interface NetworkFinding {
  readonly isOk: boolean;
  readonly text: string;
  /** What to do. */
  readonly remedy?: string;
}

/** Reports one look, with what to do where it isn't in order. */
export type Tell = (isOk: boolean, text: string, remedy?: string) => void;
