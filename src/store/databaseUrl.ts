import { Client } from "pg";
import type { ClientConfig } from "pg";
import { TycheError } from "../lib/errors.ts";

/** Names a database and who may use it, as `pg` takes it. The URL itself stays out of every message: it holds the password. */
export function parseDatabaseUrl(url: string): ClientConfig {
  const text = url.trim();
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw new DatabaseUrlError();
  const config: ClientConfig = { connectionString: text, keepAlive: true, application_name: "tyche" };
  try {
    // Connects nowhere; its errors have the URL as a member.
    void new Client(config);
  } catch {
    throw new DatabaseUrlError();
  }
  return config;
}

/** The URL names no database of PostgreSQL. */
export class DatabaseUrlError extends TycheError {
  constructor() {
    super(
      "the database's URL must be postgres://user:password@host:port/database; it is not shown, as it may hold the password",
      { code: "invalid_config", blame: "caller" },
    );
  }
}
