/** Members whose values must never appear in a log, wherever they were put. */
const SECRET_MEMBERS = ["authorization", "Authorization", "apiKey", "secretKey", "privateKey", "secrets"];

/**
 * The `redact` option of the process's pino logger: a second line of defence, since no line should contain a secret in the first place.
 * Covers members at the top of a log object and one and two levels down.
 */
export const LOG_REDACTION = {
  paths: SECRET_MEMBERS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  censor: "[redacted]",
};

const API_KEY = /\btyche_[0-9A-Za-z]{39}\b/g;
/** The part of a URL between scheme and host: `user:password@`. */
const URL_CREDENTIALS = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'@]+@/gi;

/** Redacts API keys and URL credentials in a log line, wherever in its text they are. */
export function redactLine(line: string): string {
  return line.replace(API_KEY, "tyche_[redacted]").replace(URL_CREDENTIALS, "$1[redacted]@");
}
