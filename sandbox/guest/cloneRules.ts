/**
 * What structured cloning does with the platform's own objects (HTML, §2.7). Each chunk adds a rule for its classes when it is loaded; an object
 * exists only after that. An object without a rule is cloned as a plain one, as Deno does with the classes that it has no rule for either.
 */
export interface CloneRule {
  /** Whether the rule is about this object. */
  readonly has: (value: object) => boolean;
  /** Creates a copy; absent if the object can't be copied. */
  readonly copy?: (value: never) => unknown;
  /** What the error says if it can't be copied; default: Deno's text for most classes. */
  readonly refusal?: string;
  /** Moves the object's state into a new one; absent if it can't be transferred. */
  readonly transfer?: (value: never) => unknown;
}

/** The rules of one run. */
export interface CloneRules {
  readonly add: (rule: CloneRule) => void;
  readonly find: (value: object) => CloneRule | undefined;
}

export function createCloneRules(): CloneRules {
  // Not an array: the source may have put setters for indices on its prototype.
  const rules: Record<number, CloneRule> = { __proto__: null } as never;
  let size = 0;
  return {
    add: (rule) => {
      rules[size++] = rule;
    },
    find: (value) => {
      for (let at = 0; at < size; at++) if (rules[at]?.has(value)) return rules[at];
      return undefined;
    },
  };
}
