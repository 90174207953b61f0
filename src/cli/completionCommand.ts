import { Argument, type Command } from "commander";
import type { Terminal } from "./terminal.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const EXAMPLES = `
Examples:
  $ tyche completion bash >> ~/.bashrc
  $ tyche completion zsh >> ~/.zshrc
  $ tyche completion fish > ~/.config/fish/completions/tyche.fish`;

/** What may follow a command: `call random` and its words. */
interface Completion {
  readonly path: string;
  readonly words: readonly string[];
}

/** Adds `tyche completion`; to be called when all other commands are there. */
export function registerCompletion(program: Command, terminal: Terminal): void {
  program
    .command("completion")
    .description("Prints a completion script for your shell.")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", EXAMPLES)
    .action((shell: Shell) => terminal.out(writeCompletion(collect(program, []), shell)));
}

/** Collects commands, options and the choices of arguments; the words of a choice complete as if they stood anywhere. */
function collect(command: Command, path: readonly string[]): Completion[] {
  const options = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short }) => long ?? short ?? "");
  const choices = [...command.registeredArguments, ...command.options].flatMap(
    ({ argChoices = [] }) => argChoices,
  );
  const names = command.commands.map((one) => one.name());
  const words = [...new Set([...names, ...choices, ...options, "--help"])];
  return [
    { path: path.join(" "), words },
    ...command.commands.flatMap((one) => collect(one, [...path, one.name()])),
  ];
}

function writeCompletion(completions: readonly Completion[], shell: Shell): string {
  if (shell === "fish") return writeFish(completions);
  const cases = completions.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`);
  // The longest run of words at the start that is a command says what may follow; files complete as ever.
  return `${shell === "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : ""}_tyche() {
  local path="" words="" candidate i
  for ((i = 1; i < COMP_CWORD; i++)); do
    candidate="\${path:+$path }\${COMP_WORDS[i]}"
    case "$candidate" in
      ${completions.flatMap(({ path }) => (path === "" ? [] : [`"${path}"`])).join("|")}) path="$candidate" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tyche tyche`;
}

function writeFish(completions: readonly Completion[]): string {
  return completions
    .map(({ path, words }) => {
      const [first, second] = path.split(" ");
      const condition = !first
        ? "__fish_use_subcommand"
        : `__fish_seen_subcommand_from ${first}${second === undefined ? "" : `; and __fish_seen_subcommand_from ${second}`}`;
      return `complete -c tyche -n '${condition}' -a '${words.join(" ")}'`;
    })
    .join("\n");
}
