/** Members whose values never belong into a log, wherever somebody may put them. */
const SECRET_MEMBERS = ["authorization", "Authorization", "apiKey", "secretKey", "privateKey", "secrets"];

/**
 * Option `redact` of the process's pino logger: a second line of defence, since no line is meant to hold a secret in the first place.
 * Covers the members at the top of a log object, one and two levels down.
 */
export const LOG_REDACTION = {
  paths: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  censor: "[redacted]",
};

const API_KEY = /\btyche_[0-9A-Za-z]{39}\b/g;
/** What stands between scheme and host of a URL: `user:password@`. */
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'@]+@/gi;

/** Takes API keys, and credentials in URLs, out of a line of the log, in whatever text they came. */
export function redactLine(line: string): string {
  return line.replace(API_KEY, "tyche_[redacted]").replace(URL_CREDENTIALS, "$1[redacted]@");
}
