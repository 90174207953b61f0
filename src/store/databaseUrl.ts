import { Client, type ClientConfig } from "pg";
import { TycheError } from "../lib/errors.ts";

/** Parses a database URL into a `pg` configuration. The URL appears in no message: it holds the password. */
export function parseDatabaseUrl(url: string): ClientConfig {
  const text = url.trim();
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw new DatabaseUrlError();
  const config: ClientConfig = { connectionString: text, keepAlive: true, application_name: "tyche" };
  try {
    // Doesn't connect, only validates; the driver's errors carry the URL as a member.
    void new Client(config);
  } catch {
    throw new DatabaseUrlError();
  }
  return config;
}

/** The URL is not that of a PostgreSQL database. */
export class DatabaseUrlError extends TycheError {
  constructor() {
    super(
      "the database's URL must be postgres://user:password@host:port/database; it is not shown, as it may hold the password",
      { code: "invalid_config", blame: "caller" },
    );
  }
}
