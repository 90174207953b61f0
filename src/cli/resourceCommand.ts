import type { Command } from "commander";
import type { TycheClient } from "../client/index.ts";
import { connectService, withService, type AnyPresets, type ServiceFlags } from "./connectService.ts";
import type { Terminal } from "./terminal.ts";

export interface ResourceFlags extends ServiceFlags {
  readonly json?: true;
}

/** What a dapp has several of: schedules, log triggers or webhooks. */
interface Resource<View> {
  /** The command, which is also what messages call it, and its description. */
  readonly name: string;
  readonly description: string;
  readonly calls: (client: TycheClient<AnyPresets>) => {
    list(): Promise<readonly View[]>;
    change(id: string, changes: { readonly paused: boolean }): Promise<View>;
    delete(id: string): Promise<View>;
  };
  readonly describe: (view: View) => string;
  /** Descriptions of the commands that all of them have. */
  readonly list: string;
  readonly pause: string;
  readonly resume: string;
  readonly remove: string;
}

/** Adds `tyche NAME` with `list`; returns what its other commands are made of. */
export function createResource<View extends { readonly id: string }>(
  program: Command,
  { out, err }: Terminal,
  { name, calls, describe, ...texts }: Resource<View>,
) {
  const group = program.command(name).description(texts.description);
  const command = (usage: string, description: string): Command =>
    withService(group.command(usage)).description(description).option("--json", "print JSON");
  const connect = async (flags: ResourceFlags): Promise<ReturnType<typeof calls>> =>
    calls((await connectService(flags)).client);
  const print = ({ json }: ResourceFlags, answer: object, text: string): void =>
    out(json ? JSON.stringify(answer, null, 2) : text);
  const show = (flags: ResourceFlags, view: View): void => print(flags, view, describe(view));

  command("list", texts.list).action(async (flags: ResourceFlags) => {
    const items = await (await connect(flags)).list();
    if (items.length === 0 && !flags.json) return err(`no ${name}s`);
    print(flags, items, items.map(describe).join("\n"));
  });
  return {
    command,
    print,
    show,
    /** Adds `pause`, `resume` and `remove`. */
    addEnds: (): void => {
      for (const [verb, paused] of [
        ["pause", true],
        ["resume", false],
      ] as const)
        command(`${verb} <id>`, texts[verb]).action(async (id: string, flags: ResourceFlags) =>
          show(flags, await (await connect(flags)).change(id, { paused })),
        );
      command("remove <id>", texts.remove).action(async (id: string, flags: ResourceFlags) => {
        const view = await (await connect(flags)).delete(id);
        print(flags, view, `removed ${view.id}`);
      });
    },
  };
}
