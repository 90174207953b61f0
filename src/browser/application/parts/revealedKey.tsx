import { useState } from "react";
import type { KeyView } from "../../../client/index.ts";
import { announce } from "../announce.ts";
import { useOperator } from "../services.tsx";
import { Code, CopyButton } from "./format.tsx";
import { describeError } from "./forms.tsx";
import { UnknownText } from "./parts.tsx";

/** A live API key, masked until it is asked for. */
export function RevealedKey({
  dappId,
  apiKey: { id, ending },
}: {
  readonly dappId: string;
  readonly apiKey: KeyView;
}) {
  const operator = useOperator();
  const [shown, show] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const reveal = async (): Promise<void> => {
    try {
      show((await operator.revealKey(dappId, id)).apiKey);
      announce("The key is shown.");
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  if (shown !== undefined)
    return (
      <span className="secret">
        <span className="copyable">
          <Code text={shown} />
          <CopyButton text={shown} what="" autoFocus />
        </span>
      </span>
    );
  return (
    <>
      <span className="secret">
        <code className="hex masked">tyche_••••••••••••{ending}</code>
      </span>
      <button type="button" onClick={() => void reveal()}>
        Reveal<span className="visually-hidden"> key {id}</span>
      </button>
      {problem !== undefined && (
        <p className="problem" role="alert">
          <UnknownText text={problem} />
        </p>
      )}
    </>
  );
}
