import type { RoleName } from "../../../client/index.ts";

/** What each role may do, to follow {@link aRole}. */
export const ROLE_TEXT: Readonly<Record<RoleName, string>> = {
  viewer: "reads the dapp's requests, results and settings, and changes none of them",
  developer: "also runs presets and functions, and edits triggers, webhooks and secrets",
  owner: "does everything in the dapp, also with API keys, members, contracts and its deletion",
};

/** Returns a role with its article. */
export function aRole(role: RoleName): string {
  return `${role === "owner" ? "an" : "a"} ${role}`;
}
