import { pino } from "pino";
import { expect, test } from "vitest";
import { LOG_REDACTION, redactLine } from "../../src/cli/logRedaction.ts";

test("secrets are censored down to the second level, the rest is kept", () => {
  let text = "";
  const log = pino({ redact: LOG_REDACTION }, { write: (line: string) => void (text += line) });
  log.info({ apiKey: "k1", req: { headers: { authorization: "k2", host: "kept" }, secrets: { a: "k3" } } });
  expect(text).not.toMatch(/k[123]/);
  expect(text).toContain("kept");
});

test("keys and credentials in any text of a line are censored", () => {
  const key = `tyche_${"0aZ".repeat(13)}`;
  expect(redactLine(`{"msg":"no dapp has ${key}","url":"https://user:pass@node.example/x"}`)).toBe(
    '{"msg":"no dapp has tyche_[redacted]","url":"https://[redacted]@node.example/x"}',
  );
});

test("names of metrics, file names and addresses of people stay", () => {
  const line = '{"msg":"tyche_http_requests_in_flight of ann@example.com, https://node.example/@types/node"}';
  expect(redactLine(line)).toBe(line);
});
