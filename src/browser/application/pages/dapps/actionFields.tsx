import { useState } from "react";
import { Link } from "wouter";
import type { PresetView } from "../../../../client/index.ts";
import { findObject } from "../../../../lib/isObject.ts";
import { plainText } from "../../../../lib/hiddenCharacters.ts";
import { Field, problemAttributes, readField, TextField } from "../../parts/forms.tsx";
import { UnknownText } from "../../parts/parts.tsx";
import { RETURN_TYPES } from "../functions/draft.ts";
import { Parameter } from "../../parts/presetParameter.tsx";
import { createFields, readParams, textOf } from "../../parts/presetFields.ts";

/** Values that every log has, and that are most often of use. */
const LOG_VALUES = ["$address", "$transactionHash", "$blockNumber"];
const SUGGESTIONS = "log-values";

/** What a trigger requests, as it is given to the API. */
interface Action {
  readonly preset?: string;
  readonly random?: Readonly<Record<string, unknown>>;
  readonly function?: Readonly<Record<string, unknown>>;
  readonly [parameter: string]: unknown;
}

/**
 * What a trigger requests: by fields, or as JSON while that is unfolded.
 *
 * @param action what it requests so far. Default: a coin.
 * @param event declaration of the event whose arguments the fields suggest; absent where there is no log.
 */
export function ActionFields({
  presets,
  action = {},
  event,
  problem,
}: {
  readonly presets: readonly PresetView[];
  readonly action?: Action | undefined;
  readonly event?: string;
  readonly problem: string | undefined;
}) {
  const { preset: former = "coinflip", random, function: source } = action;
  const [kind, setKind] = useState(
    source !== undefined ? "function" : random !== undefined ? "random" : "preset",
  );
  const [name, setName] = useState((presets.find((one) => one.name === former) ?? presets[0])?.name);
  const [json, setJson] = useState(fitsFields(action, presets) ? undefined : JSON.stringify(action, null, 2));
  const isJson = json !== undefined;
  const suggestions = event === undefined ? undefined : SUGGESTIONS;
  const preset = presets.find((one) => one.name === name);
  return (
    <>
      {event !== undefined && (
        <datalist id={SUGGESTIONS}>
          {[...argumentsOf(event), ...LOG_VALUES].map((one) => (
            <option key={one} value={JSON.stringify({ event: one })} />
          ))}
        </datalist>
      )}
      <fieldset className="fields" disabled={isJson} hidden={isJson}>
        <Field
          id="action-kind"
          label="What it requests"
          note={
            event !== undefined &&
            'In a field, {"event": "name"} stands for the value of that name in the log.'
          }
          problem={isJson ? undefined : problem}
        >
          {(control) => (
            <select
              {...control}
              name="kind"
              value={kind}
              onChange={(change) => setKind(change.currentTarget.value)}
            >
              <option value="preset">a preset's result</option>
              <option value="random">random numbers</option>
              <option value="function">the result of a function</option>
            </select>
          )}
        </Field>
        {kind === "preset" && (
          <Field
            id="action-preset"
            label="Preset"
            note={preset !== undefined && <UnknownText text={preset.description} />}
          >
            {(control) => (
              <select
                {...control}
                name="preset"
                value={name}
                onChange={(change) => setName(change.currentTarget.value)}
              >
                {presets.map((one) => (
                  <option key={one.name} value={one.name}>
                    {plainText(one.title)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {kind === "preset" &&
          preset !== undefined &&
          createFields(preset).map((field) => {
            const isFormer = action.preset === preset.name;
            const fallback = isFormer ? textOf(action[field.name], field.kind) : field.fallback;
            return (
              <Parameter
                key={`${preset.name} ${field.name}`}
                field={{ ...field, fallback }}
                suggestions={suggestions}
              />
            );
          })}
        {kind === "random" && (
          <TextField
            id="action-words"
            label="How many"
            name="numWords"
            required
            defaultValue={textOf(random?.["numWords"] ?? 1, "text")}
            list={suggestions}
          />
        )}
        {kind === "function" && <FunctionFields given={source} />}
      </fieldset>
      <details
        className="field wide"
        open={isJson}
        onToggle={({ currentTarget }) => {
          if (currentTarget.open === isJson) return;
          const action = readAction(new FormData(currentTarget.closest("form")!), presets);
          setJson(currentTarget.open ? JSON.stringify(action, null, 2) : undefined);
        }}
      >
        <summary>As JSON, with all parameters</summary>
        {isJson && (
          <>
            <label htmlFor="action">Action</label>
            <textarea
              id="action"
              name="action"
              rows={6}
              className="mono"
              spellCheck={false}
              defaultValue={json}
              {...problemAttributes("action", problem, "action-note")}
            />
            <p className="note" id="action-note">
              {'{"preset": …}, {"random": {…}} or {"function": {…}}, with the parameters of that endpoint.'}{" "}
              Fold this to go back to the fields.
            </p>
            {problem !== undefined && (
              <p className="problem" id="action-problem">
                <UnknownText text={problem} />
              </p>
            )}
          </>
        )}
      </details>
    </>
  );
}

/** Whether the fields have a place for everything that an action says. */
function fitsFields({ preset, random, function: source, ...params }: Action, presets: readonly PresetView[]) {
  const names = Object.keys(random ?? source ?? params);
  const known =
    random !== undefined
      ? ["numWords"]
      : source !== undefined
        ? ["source", "args", "returnType"]
        : (presets.find((one) => one.name === preset)?.parameterOrder ?? []);
  return names.every((name) => known.includes(name));
}

function FunctionFields({ given = {} }: { readonly given: Action["function"] }) {
  return (
    <>
      <Field
        id="action-source"
        label="Source"
        note={
          <>
            JavaScript; write and try it in the <Link href="/functions">playground</Link>.
          </>
        }
        wide
      >
        {(control) => (
          <textarea
            {...control}
            name="source"
            rows={6}
            required
            className="mono"
            spellCheck={false}
            defaultValue={textOf(given["source"], "text")}
          />
        )}
      </Field>
      <Field id="action-args" label="Arguments" note="One per line." wide>
        {(control) => (
          <textarea
            {...control}
            name="args"
            rows={2}
            className="mono"
            spellCheck={false}
            defaultValue={textOf(given["args"], "lines")}
          />
        )}
      </Field>
      <Field id="action-type" label="Return type">
        {(control) => (
          <select
            {...control}
            name="returnType"
            defaultValue={textOf(given["returnType"], "text") || "string"}
          >
            {RETURN_TYPES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </Field>
    </>
  );
}

/** Reads what {@link ActionFields} was given; `undefined` if it is JSON that is no object. */
export function readAction(
  values: FormData,
  presets: readonly PresetView[],
): Readonly<Record<string, unknown>> | undefined {
  if (values.has("action")) return findObject(readField(values, "action"));
  const kind = readField(values, "kind");
  if (kind === "random") {
    const typed = readField(values, "numWords").trim();
    return { random: { numWords: /^\d+$/.test(typed) ? Number(typed) : readValue(typed) } };
  }
  if (kind === "function") {
    const args = readField(values, "args").replace(/\r?\n$/, "");
    return {
      function: {
        source: readField(values, "source"),
        ...(args === "" ? {} : { args: args.split(/\r?\n/).map(readValue) }),
        returnType: readField(values, "returnType"),
      },
    };
  }
  const name = readField(values, "preset");
  const preset = presets.find((one) => one.name === name);
  const params = preset === undefined ? {} : readParams(preset, (one) => readField(values, `param.${one}`));
  return {
    preset: name,
    ...Object.fromEntries(
      Object.entries(params).map(([one, value]) => [
        one,
        Array.isArray(value) ? value.map(readValue) : readValue(value),
      ]),
    ),
  };
}

/** A text that refers to a value of the log becomes the reference. */
function readValue(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*\{\s*"event"/.test(value)) return value;
  return findObject(value) ?? value;
}

/** Returns the names of an event's arguments, as far as its declaration is typed. */
function argumentsOf(event: string): readonly string[] {
  const [, list = ""] = /\((.*)\)/s.exec(event) ?? [];
  return list.split(",").flatMap((one) => /\s(\w+)\s*$/.exec(one)?.[1] ?? []);
}
