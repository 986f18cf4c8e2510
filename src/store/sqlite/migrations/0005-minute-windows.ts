import type { Migration } from "../../core/migration.ts";

/** PostgreSQL alone has a table of shared minute windows: the one node of SQLite counts in memory. */
export const minuteWindows: Migration = { number: 5, name: "minute-windows", sql: "SELECT 1" };
