/** Names of a global object. */
export type Names = Record<PropertyKey, unknown>;

/** A context of `node:vm`: a global object of its own, whose properties are those of an object of the source. */
export interface Realm {
  /** Runs the work between reading the object's properties and writing them back. */
  readonly within: (work: () => unknown) => unknown;
  /** Makes an error of this context from one of another. */
  readonly adopt: (error: Error) => Error;
}

/** What a context is made of. */
export interface RealmParts {
  /** The object whose properties it has, and where the prototypes of that end. */
  readonly names: Names;
  readonly root: object;
  /** What it has besides the language, or in place of that. */
  readonly globals: Readonly<Record<string, unknown>>;
  readonly touch: (what: "time" | "randomness") => void;
}

/** A context that nothing has run in, by the number that the host knows it by. */
export interface OpenRealm {
  readonly number: number;
  readonly setUp: (parts: RealmParts) => Realm;
}

/** How a script ended. */
export type Ending = { readonly value: unknown } | { readonly error: unknown };
