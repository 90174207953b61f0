import { InvalidArgumentError } from "commander";

/** Checks the URL of a node, or the path of its socket. */
export function parseRpcUrl(text: string): string {
  const isUrl = /^(?:https?|wss?):\/\//.test(text) && URL.canParse(text);
  if (!isUrl && !/^[./]/.test(text))
    throw new InvalidArgumentError("It must be an http, https, ws or wss URL, or the path of a socket.");
  return text;
}
