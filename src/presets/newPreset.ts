import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { TycheError } from "../lib/errors.ts";

/** A starting point: it works, and has one of everything that an author is likely to change. */
const SOURCE = `// bytesArgs[0] is the random word: "0x" and 64 hex digits. args are the parameters, in the order of "args" in preset.json.
// 2^256 words do not split evenly among 3 options, but the difference, below 2^-240, is far too small ever to be measured.
const options = JSON.parse(args[0]);
const index = BigInt(bytesArgs[0]) % BigInt(options.length);
return Functions.encodeString(options[Number(index)]);
`;

/**
 * Writes the folder of a new preset that works as it is: it picks one of a list of options. Returns the paths of its two
 * files. Throws `preset_exists` if something with that name already exists.
 */
export async function writeNewPreset(folder: string, name: string): Promise<readonly string[]> {
  const presetFolder = path.join(folder, name);
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new TycheError(
      `${JSON.stringify(name)} can't be a preset's name: it begins with a letter and has at most 64 letters, digits, _ and -`,
      { code: "preset_name_invalid", blame: "caller" },
    );
  await mkdir(folder, { recursive: true });
  await mkdir(presetFolder).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST"
      ? new TycheError(
          `the folder already has a preset ${JSON.stringify(name)}: choose another name, or remove it first`,
          { code: "preset_exists", blame: "caller" },
        )
      : error;
  });
  const files = [path.join(presetFolder, "source.js"), path.join(presetFolder, "preset.json")] as const;
  await writeFile(files[0], SOURCE);
  await writeFile(files[1], `${JSON.stringify(createDefinition(name), null, 2)}\n`);
  return files;
}

function createDefinition(name: string): object {
  const options = ["red", "green", "blue"];
  return {
    name,
    title: "Pick one",
    description: "Picks one of the options, each with the same probability.",
    parameters: {
      type: "object",
      properties: {
        options: {
          description: "What can be picked.",
          type: "array",
          items: { type: "string" },
          minItems: 1,
        },
      },
      required: ["options"],
    },
    args: ["options"],
    returnType: "string",
    maxResultBytes: "longest(options, 1)",
    value: { type: "string" },
    examples: [
      { params: { options }, word: `0x${"0".repeat(64)}`, parsedResult: "red" },
      { params: { options }, word: `0x${"0".repeat(63)}5`, parsedResult: "blue" },
    ],
    distributions: [{ params: { options }, outcomes: { red: 1, green: 1, blue: 1 } }],
  };
}
