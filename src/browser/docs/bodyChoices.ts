import type { SwaggerSystem } from "swagger-ui-dist/swagger-ui-bundle.js";

/** The part of a body's JSON Schema that choices are read from. */
interface BodySchema {
  readonly properties?: Readonly<Record<string, MemberSchema>>;
}
interface MemberSchema {
  readonly enum?: readonly string[];
  readonly items?: { readonly enum?: readonly string[] };
}

/** The part of Swagger UI's `RequestBody` that is used here: Immutable values, and the text of the editor. */
interface RequestBodyProps {
  readonly requestBody: { readonly toJS: () => DescribedBody };
  readonly requestBodyValue?: unknown;
  readonly isExecute: boolean;
  readonly onChange: (text: string) => void;
}
interface DescribedBody {
  readonly content?: Readonly<
    Record<string, { readonly schema?: BodySchema; readonly example?: Readonly<Record<string, unknown>> }>
  >;
}

/**
 * Renders, above the body's editor, a choice for each member of a JSON body that has a fixed list of values, and writes what is chosen
 * into the text. A member that takes a list of such values gets a checkbox for each. Renders nothing for other bodies, or if the text
 * is not a JSON object.
 */
export function drawChoices({ React: { createElement } }: SwaggerSystem, props: RequestBodyProps) {
  const { schema, example = {} } = props.requestBody.toJS().content?.["application/json"] ?? {};
  const body = parseObject(props.requestBodyValue) ?? (props.requestBodyValue ? undefined : example);
  if (!props.isExecute || body === undefined) return null;
  const put = (name: string, value: unknown): void =>
    props.onChange(JSON.stringify({ ...body, [name]: value }, null, 2));
  const drawChoice = (name: string, values: readonly string[]) =>
    createElement(
      "label",
      { key: name },
      `${name} `,
      createElement(
        "select",
        {
          value: values.includes(body[name] as string) ? (body[name] as string) : "",
          onChange: ({ target }: { readonly target: HTMLSelectElement }) =>
            put(name, target.value === "" ? undefined : target.value),
        },
        createElement("option", { value: "" }, "not given"),
        ...values.map((value) => createElement("option", { key: value }, value)),
      ),
    );
  const drawBoxes = (name: string, values: readonly string[]) => {
    const chosen = Array.isArray(body[name]) ? (body[name] as readonly unknown[]) : values;
    return createElement(
      "fieldset",
      { key: name },
      createElement("legend", null, name),
      ...values.map((value) =>
        createElement(
          "label",
          { key: value },
          createElement("input", {
            type: "checkbox",
            checked: chosen.includes(value),
            onChange: ({ target }: { readonly target: HTMLInputElement }) =>
              put(
                name,
                values.filter((one) => (one === value ? target.checked : chosen.includes(one))),
              ),
          }),
          ` ${value}`,
        ),
      ),
    );
  };
  const choices = Object.entries(schema?.properties ?? {}).flatMap(([name, member]) => {
    if (member.enum !== undefined) return [drawChoice(name, member.enum)];
    return member.items?.enum === undefined ? [] : [drawBoxes(name, member.items.enum)];
  });
  return choices.length === 0 ? null : createElement("div", { className: "choices" }, ...choices);
}

/** Parses a JSON object; returns `undefined` for anything else. */
function parseObject(text: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(String(text)) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
