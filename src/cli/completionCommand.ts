import { Argument, type Command, type Option } from "commander";
import type { Terminal } from "./terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** The words that may follow a command, such as `call random`, or an option of it that takes a value, such as `call --return-type`. */
interface Completion {
  readonly path: string;
  /** Empty for an option whose value can be anything: the shell completes file names then. */
  readonly words: readonly string[];
}

/** Adds `tyche completion`; must be called after all other commands are registered. */
export function registerCompletion(program: Command, terminal: Terminal): void {
  program
    .command("completion")
    .description("Prints a completion script for your shell.")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .action((shell: Shell) => terminal.out(writeCompletion(collect(program, []), shell)));
}

/** Collects the commands below `command` with their subcommands, options and choices, and the options with their choices. */
function collect(command: Command, path: readonly string[]): Completion[] {
  const shown = command.options.filter(({ hidden }) => !hidden);
  const words = [
    ...command.commands.map((one) => one.name()),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...shown.map(nameOf),
    "--help",
  ];
  return [
    { path: path.join(" "), words },
    ...shown
      .filter((option) => option.required || option.optional)
      .map((option) => ({ path: [...path, nameOf(option)].join(" "), words: option.argChoices ?? [] })),
    ...command.commands.flatMap((one) => collect(one, [...path, one.name()])),
  ];
}

function nameOf({ long, short }: Option): string {
  return long ?? short ?? "";
}

const isOfOption = ({ path }: Completion): boolean => /(?:^| )-[^ ]*$/.test(path);

function writeCompletion(completions: readonly Completion[], shell: Shell): string {
  if (shell === "fish") return writeFish(completions);
  const commands = completions.filter((one) => !isOfOption(one) && one.path !== "");
  const cases = completions.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`);
  // The longest leading run of words that is a command determines the completions, unless the word before is an option of it that takes a
  // value; file names complete as usual.
  return `${shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : ""}_tyche() {
  local path="" words="" candidate i
  for ((i = 1; i < COMP_CWORD; i++)); do
    candidate="\${path:+$path }\${COMP_WORDS[i]}"
    case "$candidate" in
      ${commands.map(({ path }) => `"${path}"`).join("|")}) path="$candidate" ;;
    esac
  done
  candidate="\${path:+$path }\${COMP_WORDS[COMP_CWORD-1]}"
  case "$candidate" in
    ${completions
      .filter(isOfOption)
      .map(({ path }) => `"${path}"`)
      .join("|")}) path="$candidate" ;;
  esac
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tyche tyche`;
}

function writeFish(completions: readonly Completion[]): string {
  return completions
    .map((completion) => {
      const [first, second] = completion.path
        .split(" ")
        .filter((word) => word !== "" && !word.startsWith("-"));
      const condition = !first
        ? "__fish_use_subcommand"
        : `__fish_seen_subcommand_from ${first}${second === undefined ? "" : `; and __fish_seen_subcommand_from ${second}`}`;
      const words = `-a '${completion.words.join(" ")}'`;
      if (!isOfOption(completion)) return `complete -c tyche -n '${condition}' ${words}`;
      const option = completion.path.slice(completion.path.lastIndexOf(" ") + 1);
      const name = option.startsWith("--") ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`;
      return `complete -c tyche -n '${condition}' ${name} ${completion.words.length > 0 ? `-x ${words}` : "-r"}`;
    })
    .join("\n");
}
