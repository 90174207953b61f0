import { useState, type FormEvent } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { Facility } from "../../../../client/index.ts";
import { describeError, Field, focusFirstProblem, problemsOf, readField } from "../../parts/forms.tsx";
import { Notice, UnknownText } from "../../parts/parts.tsx";
import { useOperator } from "../../services.tsx";

/** The form that creates a dapp. */
export function CreateDapp() {
  const operator = useOperator();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const send = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const facilities = (["presets", "functions"] as const satisfies readonly Facility[]).filter((one) =>
      fields.has(one),
    );
    if (facilities.length === 0) {
      setProblem("Choose at least one permission.");
      return;
    }
    setBusy(true);
    try {
      const { id } = await operator.createDapp({ name: readField(fields, "name").trim(), facilities });
      await queries.invalidateQueries({ queryKey: ["dapps"] });
      navigate(`/dapps/${id}`);
    } catch (error) {
      const found = problemsOf(error);
      setProblems(found);
      setProblem(found.has("name") ? undefined : describeError(error));
      // The dapp may exist even though the response was lost: refresh the list before anyone tries again.
      void queries.invalidateQueries({ queryKey: ["dapps"] });
      setBusy(false);
      focusFirstProblem(form);
    }
  };
  return (
    <section className="panel" id="create">
      <h2>Create a dapp</h2>
      {problem !== undefined && (
        <Notice kind="bad">
          <UnknownText text={problem} />
        </Notice>
      )}
      <form className="fields" onSubmit={(event) => void send(event)}>
        <Field id="name" label="Name" problem={problems.get("name")}>
          {(control) => <input {...control} name="name" required autoComplete="off" />}
        </Field>
        <fieldset>
          <legend>Permissions</legend>
          <label className="check">
            <input type="checkbox" name="presets" defaultChecked /> presets and random numbers
          </label>
          <label className="check">
            <input type="checkbox" name="functions" defaultChecked /> functions
          </label>
        </fieldset>
        <div>
          <button className="action" disabled={isBusy}>
            Create
          </button>
        </div>
      </form>
    </section>
  );
}
