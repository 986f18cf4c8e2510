import type { Migration } from "../migrate.ts";

/** Minute windows that several nodes share are a table of PostgreSQL only: the one node of SQLite counts in memory. */
export const minuteWindows: Migration = { number: 5, name: "minute-windows", sql: "SELECT 1" };
